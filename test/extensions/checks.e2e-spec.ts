import { All, type Type, Controller, Get, Module, Post } from '@nestjs/common';
import { AnyScope, Public, RequireScope } from '../../src/index.js';
import { writeModule } from '../support/extension-package.js';
import { startAndClose } from '../support/start-service.js';
import { workplaceWithToys } from '../support/toys.js';

const start = (...controllers: Type[]) => {
  class ToysModule {}
  Module({ controllers })(ToysModule);
  return startAndClose({ extensions: [{ name: 'toys', module: ToysModule }] });
};

describe('the start', () => {
  it('stops at an operation without scopes', async () => {
    @Controller('toys')
    class Toys {
      @Get()
      @AnyScope()
      list(): object {
        return {};
      }

      @Post()
      forgotten(): object {
        return {};
      }
    }
    await expect(start(Toys)).rejects.toThrow(
      'Toys.forgotten has neither @RequireScope(...) nor @AnyScope()',
    );
  });

  it('stops at an undeclared scope', async () => {
    @Controller('toys')
    @RequireScope('toys:read')
    class Toys {
      @Get()
      list(): object {
        return {};
      }
    }
    await expect(start(Toys)).rejects.toThrow(
      'Toys.list requires the scope toys:read, which no extension declares',
    );
  });

  it('stops at an operation that is declared twice, whatever its parameters are called', async () => {
    @AnyScope()
    @Controller('pets')
    class Toys {
      @Get(':toyId')
      get(): object {
        return {};
      }
    }
    await expect(start(Toys)).rejects.toThrow(
      /^the operation GET \/v1\/pets\/:\w+ is declared twice: by \w+\.get\w* and by \w+\.get\w*$/,
    );
  });

  it('stops at an operation that @All() declares as well', async () => {
    @AnyScope()
    @Controller('toys')
    class Toys {
      @All()
      any(): object {
        return {};
      }

      @Get()
      list(): object {
        return {};
      }
    }
    await expect(start(Toys)).rejects.toThrow(
      'the operation GET /v1/toys is declared twice: by Toys.any and by Toys.list',
    );
  });

  it('stops at an operation that is declared with and without @Public()', async () => {
    @AnyScope()
    @Controller('toys')
    class Toys {
      @Get()
      list(): object {
        return {};
      }
    }
    @Public()
    @Controller('toys')
    class Shop {
      @Get()
      list(): object {
        return {};
      }
    }
    await expect(start(Toys, Shop)).rejects.toThrow(
      'the operation GET /toys is declared twice: by Toys.list and by Shop.list',
    );
  });

  it('stops at a @Public() operation under /v1', async () => {
    @Public()
    @Controller('v1/toys')
    class Shop {
      @Get()
      list(): object {
        return {};
      }
    }
    await expect(start(Shop)).rejects.toThrow(
      'Shop.list is @Public() at /v1/toys, but every operation under /v1 needs a key',
    );
  });

  it('is checked by the doctor, with the settings of extensions', async () => {
    using workplace = workplaceWithToys({ TOYS_MOST: 'nine', PORT: 'x' });
    writeModule(
      workplace.directory,
      'petstore.config.js',
      `import { IsInt } from 'class-validator';
       import { toys } from './toys.js';
       class ToySettings { @IsInt() toysMost = 3; }
       export default { extensions: [{ ...toys, settings: ToySettings }] };`,
    );
    const { code, stdout } = await workplace.run('doctor', '--json');
    const { checks } = JSON.parse(stdout) as { checks: { detail: string }[] };
    expect([code, ...checks.map(({ detail }) => detail)]).toEqual([
      1,
      expect.stringMatching(/^PORT must be/),
      'TOYS_MOST must be an integer number',
    ]);
  });

  it('stops with one line, or continues with --ignore-compatibility', async () => {
    using workplace = workplaceWithToys();
    workplace.write(
      'petstore.config.js',
      `import { toys } from './toys.js';
       export default { extensions: [{ ...toys, compatibility: '^99.0.0' }] };`,
    );
    const { code, stderr } = await workplace.run('serve');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: extension toys requires pet-store-service \^99\.0\.0, but this is .*\n$/,
    );
    const served = await workplace.serve({}, '--ignore-compatibility', 'toys');
    expect(served.output()).toContain('starting anyway');
    expect(await served.stop()).toBe(0);
  });
});
