// Starts the service and the floor program.
import { root } from './settings.mjs';
import { answers, freePort } from './stage.mjs';

const FLOOR = `${root}bench/field/floor.mjs`;
/** The service sets this flag of V8 itself. The floor program gets it too. */
const NO_PRETENURING = '--no-allocation-site-pretenuring';

/**
 * Starts the service as in production: log at `info` to a file, metrics on.
 * @param {{databaseUrl: string, redisUrl?: string, publicPort?: number, name?: string, build?: string,
 *   core?: number}} options `publicPort`: the port in its links; `build`: the folder of another build
 */
export async function startOurs(stage, options) {
  const { databaseUrl, redisUrl, publicPort, name = 'ours', build = root, core } = options;
  const [port, metricsPort] = [await freePort(), await freePort()];
  return stage.start({
    name,
    args: [`${build}dist/src/main.js`, 'serve'],
    env: {
      NODE_ENV: 'production',
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      LOG_LEVEL: 'info',
      LOG_FORMAT: 'json',
      DATABASE_URL: databaseUrl,
      ...(redisUrl && { REDIS_URL: redisUrl }),
      PUBLIC_BASE_URL: `http://localhost:${publicPort ?? port}/v1`,
    },
    port,
    core,
    isReady: () => answers(`http://127.0.0.1:${port}/health/ready`),
  });
}

export async function startFloor(stage, { databaseUrl, redisUrl }) {
  const port = await freePort();
  const redis = redisUrl === undefined ? [] : [redisUrl];
  return stage.start({
    name: 'floor',
    args: [NO_PRETENURING, FLOOR, databaseUrl, String(port), ...redis],
    env: { NODE_ENV: 'production' },
    port,
    isReady: () => answers(`http://127.0.0.1:${port}/v1/pets`),
  });
}
