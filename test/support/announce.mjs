/** Tells of all tests how long they take; one room of them is quick. */
export default function announce({ nonFlagArgs }) {
  if (nonFlagArgs.length > 0) return;
  process.stderr.write(
    'All tests, with real databases, servers and browsers: some 10 minutes on two cores.\n' +
      'Those of one room take seconds: npm test -- test/pets\n',
  );
}
