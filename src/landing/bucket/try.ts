/** Tries what a landing needs of its bucket, before anything is asked of the service. */
import { randomBytes } from 'node:crypto'
import { ConfigError } from '../../lib/errors.ts'
import type { Bucket } from './client.ts'

/** Puts, reads, lists and removes an object. Throws ConfigError or BucketUnreached. */
export async function tryBucket(bucket: Bucket): Promise<void> {
  const { prefix, url } = bucket.place
  const key = `${prefix}.muster-try-${randomBytes(6).toString('hex')}`
  await bucket.put(key, Buffer.from('muster'))
  const { objects } = await bucket.list(key)
  const bytes = await bucket.get(key)
  await bucket.remove([key])
  if (objects.length === 1 && bytes?.toString() === 'muster') return
  throw new ConfigError({
    what: 'the bucket does not show what was put into it',
    where: url,
    next: 'it has to be strongly consistent, as that of AWS is',
  })
}
