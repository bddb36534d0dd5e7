/** An event is on disk before it is acknowledged, and a file is durable in its folder. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openEventLog, waitingFiles } from '../../src/events/event-log.ts'
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

/** Watches what the log asks the disk for, in order. */
async function watched(): Promise<{ readonly calls: string[]; release(): void }> {
  const file = join(folder, 'handle')
  writeFileSync(file, '')
  const handle = await open(file)
  const prototype = Object.getPrototypeOf(handle) as FileHandle
  await handle.close()
  rmSync(file)
  const calls: string[] = []
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  const { appendFile, sync } = prototype
  vi.spyOn(prototype, 'appendFile').mockImplementation(function (this: FileHandle, ...data) {
    calls.push('append')
    return appendFile.apply(this, data)
  })
  vi.spyOn(prototype, 'sync').mockImplementation(function (this: FileHandle) {
    calls.push('sync folder')
    return sync.apply(this)
  })
  vi.spyOn(prototype, 'datasync').mockImplementation(() => {
    calls.push('sync file')
    return released
  })
  return { calls, release: () => release() }
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
  vi.mocked(Object.getPrototypeOf(await open(folder)).datasync).mockRejectedValueOnce(new Error('full'))
  await expect(log.append([event('lost')])).rejects.toThrow('full')
  disk.release()
  await log.append([event('e2')])
  const [file] = await log.seal()
  expect(readFileSync(file as string, 'utf8')).toBe('{"id":"e1"}\n{"id":"e2"}\n')
  await log.close()
})

test('sealed files are those that were ended, oldest first; an empty one stays open', async () => {
  const log = openEventLog(folder)
  expect(await log.seal()).toEqual([])
  await log.append([event('e1')])
  const [first] = await log.seal()
  await log.append([event('e2')])
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
