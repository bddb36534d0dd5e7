/** `landing: s3://BUCKET/PREFIX`; whatever else the bucket needs is read from the environment as AWS's own programs read it. */
import { type Environment, variable } from '../environment.ts'

export interface BucketSettings {
  /** As messages name it. */
  readonly url: string
  readonly bucket: string
  /** Ends with a slash unless it is empty. */
  readonly prefix: string
  /** Of another service than that of AWS, which need not have a host name for each bucket. */
  readonly isOther: boolean
  /** The key of AWS KMS with which it encrypts what is put; its own setting decides without it. */
  readonly kmsKey?: string
}

export const isBucketUrl = (text: string): boolean => /^s3:/i.test(text)

/** Names that S3 allows: those of directory buckets and access points are others. */
const named = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/

/** Undefined for a text that is no address of a bucket. */
export function buildBucket(text: string, env: Environment): BucketSettings | undefined {
  const [, bucket, path = ''] = named.exec(text) ?? []
  const parts = path.split('/').filter(Boolean)
  // Such a part means another key to some services than to others.
  const isClear = !/[?#\\\s]/.test(path) && parts.every(part => !/^\.+$/.test(part))
  if (!bucket || bucket.includes('..') || !isClear) return undefined
  const endpoint = variable(env, 'AWS_ENDPOINT_URL_S3') ?? variable(env, 'AWS_ENDPOINT_URL')
  const prefix = parts.map(part => `${part}/`).join('')
  const url = `s3://${bucket}/${prefix}`.replace(/\/$/, '')
  return { url, bucket, prefix, isOther: endpoint !== undefined }
}

/** What requests are signed with, which no output may show. */
export const bucketSecrets = (env: Environment): readonly string[] =>
  ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'].flatMap(name => variable(env, name) ?? [])
