import { expect, test } from 'vitest'
import { withheldReasons } from '../../src/cli/commands/build.ts'

const of = (message: string | null, ...names: string[]) => names.map(name => ({ name, message }))

test('a reason that marts share is shown once, with their number', () => {
  const denied = 'permission denied for schema mart'
  expect(withheldReasons(of(denied, 'a', 'b', 'c', 'd', 'e'))).toEqual([`a, b, c, 2 more (${denied})`])
  expect(withheldReasons(of(denied, 'a', 'b', 'c', 'd'))).toEqual([`a, b, c, d (${denied})`])
  expect(withheldReasons([...of(denied, 'a'), ...of('it reads mart.a', 'b'), ...of(denied, 'c')])).toEqual([
    `a, c (${denied})`,
    'b (it reads mart.a)',
  ])
})
