/** With what they bring along, half of the modules that a server loads. */
const OF_SERVERS = [
  '@nestjs/swagger',
  '@nestjs/platform-fastify',
  'fastify',
  'class-validator',
  'class-transformer',
];

describe('the core modules', () => {
  it.each(['./cli/operator.js'])('has %s load nothing that is for servers alone', async (path) => {
    await jest.isolateModulesAsync(async () => {
      for (const name of OF_SERVERS) {
        jest.doMock(name, () => {
          throw new Error(`${name} is loaded`);
        });
      }
      await expect(import(path)).resolves.toBeDefined();
    });
  });
});
