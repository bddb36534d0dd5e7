import type { Known } from '../known.ts'

export const known: Known = {
  stories: [],
  slips: [
    {
      file: 'src/events/event-log.ts',
      before: '        await current.handle.datasync()\n',
      after: '',
      test: 'test/events/event-log.rules.test.ts',
      harm: 'A webhook is acknowledged before it is on disk.',
    },
  ],
  equivalents: [
    {
      file: 'src/events/verify.ts',
      line: 'const [, hex, base64] = spelling.exec(header) ?? []',
      replacement: '["Stryker was here"]',
      reason: 'The first element is not read.',
    },
    {
      file: 'src/events/drain.ts',
      line: 'if (count === 0) return 0',
      replacement: 'false',
      reason:
        'Without events nothing is passed on or copied; it saves three statements at each look into an empty inbox.',
    },
    {
      file: 'src/events/event-log.ts',
      line: 'return readdirSync(folder)',
      replacement: 'readdirSync(folder).filter(name => /^\\d{12}\\.ndjson$/.test(name))',
      reason: 'libuv lists a folder in the order of names, which Node does not promise.',
    },
  ],
}
