/** An event is on disk before it is acknowledged, and a file is durable in its folder. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { bytesOf, loggedBytes, openEventLog, waitingFiles } from '../../src/events/event-log.ts'
import type { InboxEvent } from '../../src/state/inbox/arrivals.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-log-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

const event = (id: string): InboxEvent => ({ id }) as InboxEvent

interface Watched {
  readonly calls: string[]
  release(): void
  /** Files and folders that are open, of those that were written or synced. */
  open(): number
}

async function prototypeOf(): Promise<FileHandle> {
  const handle = await open(folder)
  await handle.close()
  return Object.getPrototypeOf(handle) as FileHandle
}

/** Watches what the log asks the disk for, in order. */
async function watched(): Promise<Watched> {
  const prototype = await prototypeOf()
  const calls: string[] = []
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  const { appendFile, sync } = prototype
  const handles = new Set<FileHandle>()
  vi.spyOn(prototype, 'appendFile').mockImplementation(function (this: FileHandle, ...data) {
    calls.push('append')
    handles.add(this)
    return appendFile.apply(this, data)
  })
  vi.spyOn(prototype, 'sync').mockImplementation(function (this: FileHandle) {
    calls.push('sync folder')
    handles.add(this)
    return sync.apply(this)
  })
  vi.spyOn(prototype, 'datasync').mockImplementation(() => {
    calls.push('sync file')
    return released
  })
  const isOpen = ({ fd }: FileHandle): boolean => fd !== -1
  return { calls, release: () => release(), open: () => [...handles].filter(isOpen).length }
}

test('an append ends after its bytes are written and the disk has them, not before', async () => {
  const disk = await watched()
  const log = openEventLog(folder)
  let isDone = false
  const appended = log.append([event('e1')]).then(() => {
    isDone = true
  })
  await vi.waitFor(() => expect(disk.calls).toEqual(['sync folder', 'append', 'sync file']))
  expect(isDone).toBe(false)
  disk.release()
  await appended
  expect(isDone).toBe(true)
  await log.close()
})

test('a write that fails leaves no half line before the next one', async () => {
  const log = openEventLog(folder)
  await log.append([event('e1')])
  const disk = await watched()
  vi.mocked((await prototypeOf()).datasync).mockRejectedValueOnce(new Error('full'))
  await expect(log.append([event('lost')])).rejects.toThrow('full')
  disk.release()
  await log.append([event('e2')])
  const [file] = await log.seal()
  expect(readFileSync(file as string, 'utf8')).toBe('{"id":"e1"}\n{"id":"e2"}\n')
  await log.close()
})

test('a write after which nothing can be taken back ends its file, and the next one begins another', async () => {
  const log = openEventLog(folder)
  const disk = await watched()
  disk.release()
  const prototype = await prototypeOf()
  const close = () => Promise.reject(new Error('full thrice'))
  vi.spyOn(prototype, 'truncate').mockImplementationOnce(function (this: FileHandle) {
    const own = this.close.bind(this)
    this.close = () => own().then(close)
    return Promise.reject(new Error('full twice'))
  })
  vi.mocked(prototype.datasync).mockRejectedValueOnce(new Error('full'))
  await expect(log.append([event('lost')])).rejects.toThrow('full')
  await log.append([event('e2')])
  expect(waitingFiles(folder)).toHaveLength(2)
  await log.close()
})

test('a file whose folder cannot be synced is closed and removed, and the write fails', async () => {
  const log = openEventLog(folder)
  const disk = await watched()
  disk.release()
  const prototype = await prototypeOf()
  vi.mocked(prototype.sync).mockRejectedValueOnce(new Error('no folder'))
  await expect(log.append([event('lost')])).rejects.toThrow('no folder')
  expect(disk.open()).toBe(0)
  expect(waitingFiles(folder)).toEqual([])
  await log.append([event('e1')])
  expect(await log.seal()).toHaveLength(1)
})

test('writes are done one after the other, and one that fails does not stop the next', async () => {
  const log = openEventLog(folder)
  const disk = await watched()
  disk.release()
  vi.mocked((await prototypeOf()).datasync).mockRejectedValueOnce(new Error('full'))
  const lost = log.append([event('lost')])
  const kept = log.append([event('e1'), event('e2')])
  const sealed = log.seal()
  await expect(lost).rejects.toThrow('full')
  await kept
  const [file, ...others] = await sealed
  expect([others, readFileSync(file as string, 'utf8')]).toEqual([[], '{"id":"e1"}\n{"id":"e2"}\n'])
})

test('a file is open until it is ended', async () => {
  const disk = await watched()
  disk.release()
  const log = openEventLog(folder)
  await log.append([event('e1')])
  expect(disk.open()).toBe(1)
  await log.seal()
  expect(disk.open()).toBe(0)
  await log.append([event('e2')])
  await log.close()
  expect(disk.open()).toBe(0)
  await log.close()
})

test('a log is for its owner only', async () => {
  const place = join(folder, 'a', 'log')
  const log = openEventLog(place)
  await log.append([event('e1')])
  expect(statSync(place).mode & 0o777).toBe(0o700)
  expect(statSync(waitingFiles(place)[0] as string).mode & 0o777).toBe(0o600)
  await log.close()
})

test('waiting are the files of a log, oldest first, and nothing else in its folder', () => {
  for (const name of [
    '000000000010.ndjson',
    '000000000009.ndjson',
    '000000000011.ndjson.tmp',
    'x000000000012.ndjson',
  ])
    writeFileSync(join(folder, name), '')
  writeFileSync(join(folder, '00000000013.ndjson'), '')
  writeFileSync(join(folder, '000000000014xndjson'), '')
  mkdirSync(join(folder, '000000000015.ndjson'))
  expect(waitingFiles(folder)).toEqual(
    ['000000000009.ndjson', '000000000010.ndjson'].map(name => join(folder, name)),
  )
})

test('logged bytes are those of all waiting files; a file that is gone has none', () => {
  writeFileSync(join(folder, '000000000001.ndjson'), '12345')
  writeFileSync(join(folder, '000000000002.ndjson'), '123')
  writeFileSync(join(folder, 'other'), '1234567')
  expect(loggedBytes(folder)).toBe(8)
  expect(loggedBytes(join(folder, 'none'))).toBe(0)
  expect(bytesOf(join(folder, 'none'))).toBe(0)
})

test('sealed files are those that were ended, oldest first; an empty one stays open', async () => {
  const log = openEventLog(folder)
  expect(await log.seal()).toEqual([])
  await log.append([event('e1')])
  const [first] = await log.seal()
  await log.append([event('e2')])
  expect(waitingFiles(folder)).toHaveLength(2)
  const files = await log.seal()
  expect(files).toHaveLength(2)
  expect(files[0]).toBe(first)
  await log.remove(files)
  expect(waitingFiles(folder)).toEqual([])
  await log.close()
})

test('a later process goes on after the number of the last file', async () => {
  writeFileSync(join(folder, '000000000007.ndjson'), '')
  const log = openEventLog(folder)
  await log.append([event('e1')])
  expect(waitingFiles(folder).at(-1)).toMatch(/000000000008\.ndjson$/)
  await log.close()
})

test('a file that is still open and empty is not among those that were ended', async () => {
  const log = openEventLog(folder)
  const disk = await watched()
  disk.release()
  vi.mocked((await prototypeOf()).datasync).mockRejectedValueOnce(new Error('full'))
  await expect(log.append([event('lost')])).rejects.toThrow('full')
  expect(waitingFiles(folder)).toHaveLength(1)
  expect(await log.seal()).toEqual([])
  await log.append([event('e1')])
  expect(await log.seal()).toHaveLength(1)
  await log.remove([join(folder, 'gone already.ndjson')])
})
