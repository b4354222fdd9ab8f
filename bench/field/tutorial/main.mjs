// Arguments: `express` or `fastify`, database file, port.
import 'reflect-metadata';
import { ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../../../dist/bench/tutorial/app.module.js';

const [, , platform, , port] = process.argv;

async function createAdapter() {
  if (platform === 'express') {
    const { ExpressAdapter } = await import('@nestjs/platform-express');
    return new ExpressAdapter();
  }
  const { FastifyAdapter } = await import('@nestjs/platform-fastify');
  return new FastifyAdapter();
}

const app = await NestFactory.create(AppModule, await createAdapter());
app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
await app.listen(Number(port), '127.0.0.1');
