/** Parses `landing: s3://BUCKET/PREFIX`; the rest comes from the environment, as for AWS's own programs. */
import { type Environment, variable } from './environment.ts'

export interface BucketSettings {
  /** The address that messages show. */
  readonly url: string
  readonly bucket: string
  /** Ends with a slash unless it is empty. */
  readonly prefix: string
  /** Whether the service is not AWS: it may lack a host name for each bucket. */
  readonly isOther: boolean
  /** The AWS KMS key that encrypts uploads; without it, the bucket's own setting decides. */
  readonly kmsKey?: string
}

export const isBucketUrl = (text: string): boolean => /^s3:/i.test(text)

/** Names of general purpose buckets; directory buckets and access points have other names. */
const named = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/

/** Undefined if the text is not the address of a bucket. */
export function buildBucket(text: string, env: Environment): BucketSettings | undefined {
  const [, bucket, path = ''] = named.exec(text) ?? []
  const parts = path.split('/').filter(Boolean)
  // Services differ in the key that parts such as `..` or `?` lead to.
  const isClear = !/[?#\\\s]/.test(path) && parts.every(part => !/^\.+$/.test(part))
  if (!bucket || bucket.includes('..') || !isClear) return undefined
  const endpoint = variable(env, 'AWS_ENDPOINT_URL_S3') ?? variable(env, 'AWS_ENDPOINT_URL')
  const prefix = parts.map(part => `${part}/`).join('')
  const url = `s3://${bucket}/${prefix}`.replace(/\/$/, '')
  return { url, bucket, prefix, isOther: endpoint !== undefined }
}

/** Secrets that sign requests; no output may show them. */
export const bucketSecrets = (env: Environment): readonly string[] =>
  ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'].flatMap(name => variable(env, name) ?? [])
