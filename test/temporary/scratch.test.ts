/** Scratch folders outlive neither their process nor, where it was killed, the next command; never are they taken from a living one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { makeScratch, replaceFolder, sweep } from '../../src/temporary/scratch.ts'

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'muster-scratch-'))

/** Runs until it is ended; `lines` make something in `folder`. */
async function startMaker(folder: string, lines: string) {
  const code = `
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { makeScratch } from './src/temporary/scratch.ts'
const folder = process.argv[1]
${lines}
console.log('made')
setInterval(() => {}, 1000)`
  const args = ['--import', 'tsx', '--input-type=module', '-e', code, folder]
  const child = spawn(process.execPath, args)
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  return {
    ended,
    async end(signal: NodeJS.Signals) {
      child.kill(signal)
      await ended
    },
  }
}

/** The name of a scratch folder of this process. */
function ownName(): string {
  const scratch = makeScratch(newFolder())
  scratch.remove()
  return basename(dirname(scratch.path))
}

function leave(folder: string, name: string): string {
  mkdirSync(join(folder, name, 'made-1'), { recursive: true })
  return join(folder, name)
}

test('of a process lies in one folder, which goes with the last of them', () => {
  const folder = newFolder()
  const [one, other] = [makeScratch(folder), makeScratch(folder)]
  writeFileSync(join(one.path, 'page'), 'raw')
  expect(readdirSync(folder)).toHaveLength(1)
  one.remove()
  expect([existsSync(one.path), existsSync(other.path)]).toEqual([false, true])
  other.remove()
  expect(readdirSync(folder)).toEqual([])
})

test('what a killed process made stays while it lives, and goes with the next command', async () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'w.duckdb'), 'kept')
  const maker = await startMaker(folder, `writeFileSync(makeScratch(folder).path + '/page', 'raw')`)
  sweep(folder)
  expect(readdirSync(folder)).toHaveLength(2)
  await maker.end('SIGKILL')
  sweep(folder)
  expect(readdirSync(folder)).toEqual(['w.duckdb'])
})

test('the next command that writes into a folder sweeps it', async () => {
  const folder = newFolder()
  const maker = await startMaker(folder, 'makeScratch(folder)')
  await maker.end('SIGKILL')
  makeScratch(folder).remove()
  expect(readdirSync(folder)).toEqual([])
})

test('a process that ends by itself leaves nothing', async () => {
  const folder = newFolder()
  const maker = await startMaker(folder, `makeScratch(folder); setTimeout(() => process.exit(), 100)`)
  await maker.end('SIGWINCH')
  expect(readdirSync(folder)).toEqual([])
})

test('a number given out again is another process; a process of another machine lives as long as it touches its folder', () => {
  const folder = newFolder()
  const name = ownName()
  expect(name).toContain(`.muster-${hostname()}.`)
  leave(folder, name.replace(/\d+$/, '1'))
  leave(folder, name)
  // Another host, and a container with the same host name.
  const [host, container] = [
    name.replace(hostname(), 'elsewhere'),
    name.replace(/\.[0-9a-f]{8}-/, '.00000001-'),
  ]
  for (const foreign of [host, container]) leave(folder, foreign)
  const notices: string[] = []
  const notice = (line: string) => void notices.push(line)
  sweep(folder, notice)
  expect(readdirSync(folder).sort()).toEqual([name, host, container].sort())
  const days = (count: number) => Date.now() / 1000 - count * 86_400
  for (const foreign of [host, container]) utimesSync(join(folder, foreign), days(6.9), days(6.9))
  sweep(folder, notice)
  expect([readdirSync(folder).length, notices]).toEqual([3, []])
  utimesSync(join(folder, host), days(7.1), days(7.1))
  sweep(folder, notice)
  expect(readdirSync(folder).sort()).toEqual([name, container].sort())
  expect(notices).toEqual([
    `removed temporary files of another machine, untouched for 7 days: ${join(folder, host)}`,
  ])
  utimesSync(join(folder, container), days(7.1), days(7.1))
  sweep(folder)
  expect(readdirSync(folder)).toEqual([name])
})

test('what a process of another machine set aside goes back before a week has passed', () => {
  const folder = newFolder()
  const foreign = ownName().replace(hostname(), 'elsewhere')
  const entry = join(folder, foreign, 'replaced-1')
  mkdirSync(join(entry, 'exported'), { recursive: true })
  sweep(folder)
  expect(existsSync(join(folder, 'exported'))).toBe(false)
  const minutes = (count: number) => Date.now() / 1000 - count * 60
  utimesSync(entry, minutes(9), minutes(9))
  sweep(folder)
  expect(existsSync(join(folder, 'exported'))).toBe(false)
  utimesSync(entry, minutes(11), minutes(11))
  sweep(folder)
  expect(existsSync(join(folder, 'exported'))).toBe(true)
})

test('a link is no folder that was set aside: nothing of its target is moved', () => {
  const [folder, target] = [newFolder(), newFolder()]
  writeFileSync(join(target, 'private'), '1')
  const dead = leave(folder, ownName().replace(/\d+$/, '1'))
  symlinkSync(target, join(dead, 'replaced-1'))
  sweep(folder)
  expect([readdirSync(folder), readdirSync(target)]).toEqual([[], ['private']])
})

test('a folder that was replaced does not come back after its successor was removed', async () => {
  const folder = newFolder()
  const place = join(folder, 'exported')
  mkdirSync(place)
  writeFileSync(join(place, 'old'), '1')
  // Killed when the new one is in place, as it begins to remove the old one.
  const { ended } = await startMaker(
    folder,
    `import fs from 'node:fs'
     import { syncBuiltinESMExports } from 'node:module'
     import { replaceFolder } from './src/temporary/scratch.ts'
     const draft = makeScratch(folder).path + '/new'
     mkdirSync(draft)
     const { rmSync } = fs
     fs.rmSync = path => path.endsWith('/exported') ? rmSync(path, { force: true, recursive: true }) : process.kill(process.pid, 'SIGKILL')
     syncBuiltinESMExports()
     console.log('begun')
     replaceFolder(draft, folder + '/exported')`,
  )
  await ended
  expect(readdirSync(place)).toEqual([])
  rmSync(place, { recursive: true })
  sweep(folder)
  expect(readdirSync(folder)).toEqual([])
})

test('only folders with such names are swept', () => {
  const folder = newFolder()
  const dead = ownName().replace(/\d+$/, '1')
  writeFileSync(join(folder, dead), 'a file')
  for (const name of ['.muster-notes', '.muster-1-1', dead.slice(1)]) mkdirSync(join(folder, name))
  sweep(folder)
  expect(readdirSync(folder)).toHaveLength(4)
  sweep(join(folder, 'missing'))
})

test('a folder is replaced, and nothing else is left', () => {
  const folder = newFolder()
  const out = join(folder, 'out')
  for (const made of ['first', 'second']) {
    const draft = join(makeScratch(folder).path, 'draft')
    mkdirSync(draft)
    writeFileSync(join(draft, 'made'), made)
    replaceFolder(draft, out)
    expect(readFileSync(join(out, 'made'), 'utf8')).toBe(made)
  }
  expect(() => replaceFolder(join(folder, 'missing'), out)).toThrow('ENOENT')
  expect(readFileSync(join(out, 'made'), 'utf8')).toBe('second')
})

test('what was being replaced when its process was killed is put back, unless something has taken its place', async () => {
  const folder = newFolder()
  const out = join(folder, 'out')
  const killedWhile = async (made: string) => {
    const maker = await startMaker(
      folder,
      `mkdirSync(folder + '/old'); writeFileSync(folder + '/old/made', '${made}')
renameSync(folder + '/old', makeScratch(folder, 'replaced-').path + '/out')`,
    )
    await maker.end('SIGKILL')
    sweep(folder)
    expect(readdirSync(folder)).toEqual(['out'])
  }
  await killedWhile('first')
  expect(readFileSync(join(out, 'made'), 'utf8')).toBe('first')
  await killedWhile('second')
  expect(readFileSync(join(out, 'made'), 'utf8')).toBe('first')
})
