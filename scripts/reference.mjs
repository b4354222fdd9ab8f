// Writes docs/reference.md: every export of the package, from its declaration and docstring.
//
// `--check` compares instead. An export without a docstring is an error.
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import prettier from 'prettier';
import ts from 'typescript';

const PAGE = 'docs/reference.md';
const ENTRIES = {
  'pet-store-service': 'src/index.ts',
  'pet-store-service/testing': 'src/testing.ts',
};
/** The version of an export without `@since`. */
const FIRST = '1.0';
const HEAD = `# Reference of the exports

What \`pet-store-service\` and \`pet-store-service/testing\` export. [Extending the service](extending.md) explains how the parts are used
together. Everything else in the package may change at any time. This page is generated from the sources by \`npm run reference\`.
`;

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile('tsconfig.json', ts.sys.readFile).config,
  ts.sys,
  '.',
);
const program = ts.createProgram(Object.values(ENTRIES), {
  ...options,
  ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, incremental: false },
});
const checker = program.getTypeChecker();

/** The declarations that the compiler emits for each source file. */
const emitted = new Map();
program.emit(undefined, (_name, text, _mark, _error, [source]) =>
  emitted.set(source.fileName, ts.createSourceFile('x.d.ts', text, ts.ScriptTarget.Latest, true)),
);

const textOf = (comment) =>
  (ts.getTextOfJSDocComment(comment) ?? '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/^- /, '')
    .trim();

/** What a docstring says: the text before the first tag, and the tags by name. */
function docstringOf(node) {
  const about = ts
    .getJSDocCommentsAndTags(node)
    .filter(ts.isJSDoc)
    .map(({ comment }) => textOf(comment));
  const tags = ts.getJSDocTags(node).map((tag) => {
    const subject = ts.isJSDocParameterTag(tag) ? `\`${tag.name.getText()}\`: ` : '';
    const type = tag.typeExpression ? `\`${tag.typeExpression.type.getText()}\`: ` : '';
    return [tag.tagName.text, (subject || type) + textOf(tag.comment)];
  });
  return { about: about.join(' '), tags };
}

/** The declaration as a user of the package sees it: without private members and docstrings. */
function shapeOf(node, name) {
  const file = emitted.get(node.getSourceFile().fileName);
  const found = file.statements.find((each) =>
    ts.isVariableStatement(each)
      ? each.declarationList.declarations.some((one) => one.name.getText() === name)
      : each.name?.getText() === name,
  );
  return found
    .getText()
    .replace(/^export (declare )?/, '')
    .replace(/^ +((private|protected) .*|#private;)\n/gm, '')
    .replace(/import\("[^"]*"\)\./g, '')
    .replace(/^ +constructor\(.*(Database|Logger|Config|Clock|Metrics|PetStore)\b.*\n/gm, '');
}

/** The lines of an export; undefined if its docstring is missing. */
function sectionOf(symbol) {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const [specifier] = symbol.declarations;
  const [declaration] = target.declarations;
  const source = declaration.getSourceFile().fileName;
  const heading = `### ${symbol.name}\n`;
  if (source.includes('node_modules')) {
    const [, library] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source);
    return `${heading}\nThe class of \`${library}\`. Since ${FIRST}.\n`;
  }
  const holder = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const { about, tags } = docstringOf(holder);
  if (about === '') return undefined;
  const named = (name) => tags.filter(([tag]) => tag === name).map(([, text]) => text);
  const [since = FIRST] = named('since');
  const isType = target.flags & ts.SymbolFlags.Class && ts.isTypeOnlyExportDeclaration(specifier);
  const note = isType ? ' Only the type is exported: it cannot be injected.' : '';
  const lists = [
    ...named('param').map((text) => `- ${text}`),
    ...named('returns').map((text) => `- returns ${text}`),
    ...named('throws').map((text) => `- throws ${text}`),
  ];
  const shape = `\`\`\`ts\n${shapeOf(declaration, target.name)}\n\`\`\``;
  return [`${heading}`, `${about}${note} Since ${since}.\n`, shape, lists.join('\n')].join('\n');
}

const missing = [];
const chapters = Object.entries(ENTRIES).map(([name, file]) => {
  const module = checker.getSymbolAtLocation(program.getSourceFile(file));
  const symbols = checker.getExportsOfModule(module).sort((a, b) => (a.name < b.name ? -1 : 1));
  const sections = symbols.map((symbol) => {
    const section = sectionOf(symbol);
    if (section === undefined)
      missing.push(`${relative('.', file)}: ${symbol.name} has no docstring`);
    return section;
  });
  return [`## ${name}\n`, ...sections].join('\n');
});
if (missing.length > 0) {
  console.error(missing.join('\n'));
  process.exit(1);
}
const config = await prettier.resolveConfig(PAGE);
const page = await prettier.format([HEAD, ...chapters].join('\n'), {
  ...config,
  parser: 'markdown',
});
if (!process.argv.includes('--check')) {
  writeFileSync(PAGE, page);
} else if (readFileSync(PAGE, 'utf8') !== page) {
  console.error(`${PAGE} is not up to date: run "npm run reference"`);
  process.exit(1);
}
