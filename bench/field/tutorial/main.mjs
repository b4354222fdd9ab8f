// Arguments: `sqlite:PATH` or `postgres://...` with the schema in place, and the port.
import 'reflect-metadata';
import { ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../../../dist/bench/tutorial/app.module.js';

const [, , , port] = process.argv;
const app = await NestFactory.create(AppModule, new FastifyAdapter());
app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
await app.listen(Number(port), '127.0.0.1');
