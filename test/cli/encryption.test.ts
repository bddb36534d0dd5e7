/** `doctor` tells whether what is stored is encrypted. */
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { encryption, isOnEncryptedDisk } from '../../src/app/checkup/landing.ts'
import { temporaryFolder } from '../support/captured-world.ts'

/** A list of devices as Linux has it, with the device of `folder` in it. */
function devicesWith(folder: string, uuid: string): { devices: string; device: string } {
  const devices = temporaryFolder()
  const { dev } = statSync(folder)
  const device = join(devices, `${Math.floor(dev / 256)}:${dev % 256}`)
  mkdirSync(join(device, 'dm'), { recursive: true })
  writeFileSync(join(device, 'dm', 'uuid'), uuid)
  return { devices, device }
}

test('a disk is encrypted when its device is, or one that it lies on', () => {
  const folder = temporaryFolder()
  const missing = join(folder, 'not', 'there', 'yet')
  expect(isOnEncryptedDisk(folder, devicesWith(folder, 'CRYPT-LUKS2-0123').devices)).toBe(true)
  const { devices, device } = devicesWith(folder, 'LVM-0123')
  expect(isOnEncryptedDisk(missing, devices)).toBe(false)
  const below = join(devices, 'dm-0')
  mkdirSync(join(below, 'dm'), { recursive: true })
  writeFileSync(join(below, 'dm', 'uuid'), 'CRYPT-LUKS1-4567')
  mkdirSync(join(device, 'slaves'))
  symlinkSync(below, join(device, 'slaves', 'dm-0'))
  expect(isOnEncryptedDisk(missing, devices)).toBe(true)
  expect(isOnEncryptedDisk(folder, join(devices, 'none'))).toBe(false)
})

test('a disk or a bucket encrypts; where none is known to, the advice is to use one', () => {
  const folder = temporaryFolder()
  const places = { warehouse: { kind: 'file', file: join(folder, 'w.duckdb') }, landing: folder } as const
  const found = 'warehouse: not known to be encrypted; landed pages: not known to be encrypted'
  const advice = expect.stringContaining('encrypted disk')
  expect(encryption(places, join(folder, 'none'))).toMatchObject({ found, advice })
  const { devices } = devicesWith(folder, 'CRYPT-LUKS2-0123')
  expect(encryption(places, devices)).toEqual({
    check: 'encryption',
    state: 'ok',
    found: 'warehouse: by its disk; landed pages: by its disk',
  })
  const bucket = { url: 's3://data-1', bucket: 'data-1', prefix: '', isOther: false }
  const pagesIn = (more: object) => encryption({ ...places, bucket: { ...bucket, ...more } }, devices).found
  expect(pagesIn({})).toContain('landed pages: as their bucket is set up')
  expect(pagesIn({ kmsKey: 'alias/muster' })).toContain(
    'landed pages: by their bucket, with the key alias/muster',
  )
})
