/** The package has no types, and its main module would load all of Swagger UI to tell where it is. */
declare module 'swagger-ui-dist/absolute-path.js' {
  export default function absolutePath(): string;
}
