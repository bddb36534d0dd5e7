/** The help of the program and of each command, at three widths, compared with a recording; `npm run accept -- help` writes it anew. */
import { expect, test } from 'vitest'
import { commandSet } from '../../src/cli/commands.ts'
import { run } from '../../src/cli/program.ts'
import { captured } from '../support/captured-world.ts'

test.each([60, 100, 160])('at %i columns', async columns => {
  const found: string[] = []
  for (const name of ['', ...Object.keys(commandSet.commands)]) {
    const { world, out } = captured()
    const stdout = { ...world.stdout, columns }
    await run([...name.split(' ').filter(Boolean), '--help'], { ...world, stdout }, commandSet)
    found.push(`$ muster ${name} --help\n${out()}`)
  }
  await expect(found.join('\n')).toMatchFileSnapshot(`golden/help-${columns}-columns.txt`)
})
