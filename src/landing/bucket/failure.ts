/** What went wrong with a bucket, in one line: what has to be set, or that it may work later. */
import { ConfigError, Interrupted, MusterError } from '../../lib/errors.ts'

/** It may be there again later. */
export class BucketUnreached extends MusterError {
  override readonly exitCode = 75
}

/** What the client throws, as far as it is known. */
interface Thrown {
  readonly name?: string
  readonly message?: string
  readonly code?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> }
}

export const statusOf = (error: unknown): number | undefined =>
  (Object(error) as Thrown).$metadata?.httpStatusCode

interface Explained {
  readonly what: string
  readonly next: string
}

const credentials =
  'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role'

function regionOf({ $response }: Thrown): Explained {
  const region = $response?.headers?.['x-amz-bucket-region']
  return region === undefined
    ? { what: 'the bucket is in another region', next: 'set AWS_REGION to the region of the bucket' }
    : { what: `the bucket is in the region ${region}`, next: `set AWS_REGION=${region}` }
}

const forbidden: Explained = {
  what: 'the credentials may not use the bucket',
  next: 'allow them s3:ListBucket on it, and s3:GetObject, s3:PutObject and s3:DeleteObject below its prefix',
}

/** By the name of an error. */
const byName: Readonly<Record<string, Explained>> = {
  CredentialsProviderError: { what: 'there are no credentials for the bucket', next: credentials },
  NoSuchBucket: { what: 'there is no such bucket', next: 'create it, or correct landing' },
  InvalidBucketName: { what: 'no bucket can have this name', next: 'correct landing' },
  InvalidAccessKeyId: { what: 'the access key is unknown there', next: credentials },
  SignatureDoesNotMatch: { what: 'the secret access key is wrong', next: credentials },
  ExpiredToken: { what: 'the credentials for the bucket have expired', next: credentials },
  ExpiredTokenException: { what: 'the credentials for the bucket have expired', next: credentials },
  RequestTimeTooSkewed: {
    what: 'the clock of this machine is wrong',
    next: 'set it, as requests are signed',
  },
}

/** Why nothing works before something is set; undefined when that is not the reason. */
function settingOf(error: Thrown): Explained | undefined {
  const { name = '', message = '' } = error
  const status = statusOf(error)
  if (byName[name]) return byName[name]
  if (/region is missing|region not accepted/i.test(message))
    return { what: 'the region of the bucket is not known', next: 'set AWS_REGION' }
  const isElsewhere = [
    'PermanentRedirect',
    'AuthorizationHeaderMalformed',
    'IllegalLocationConstraintException',
  ]
  if (status === 301 || isElsewhere.includes(name)) return regionOf(error)
  if (status === 401 || status === 403) return forbidden
  if (/invalid url|protocol|profile/i.test(message) && status === undefined)
    return {
      what: message.split('\n')[0] ?? '',
      next: 'correct AWS_ENDPOINT_URL, AWS_PROFILE or ~/.aws/config',
    }
  return undefined
}

/** What came back is no answer of an S3 service, or one that says that the request cannot be served. */
function isRefusal(error: Thrown): boolean {
  const status = statusOf(error)
  return status !== undefined && status >= 400 && status < 500 && ![408, 429].includes(status)
}

const words = ({ name = '', message = '', code }: Thrown, status: number | undefined): string =>
  [status, code ?? name, code === undefined ? undefined : message.split('\n')[0]]
    .filter(part => part !== undefined && part !== '')
    .join(' ')

/** One line about it; what is no failure of a bucket stays as it is. */
export function bucketFailure(error: unknown, where: string): unknown {
  if (error instanceof MusterError) return error
  const thrown = Object(error) as Thrown
  const { name = '', code } = thrown
  const stopped = 'everything read so far is loaded; run again to go on'
  if (name === 'AbortError')
    return new Interrupted({ what: 'stopped as asked', where, next: stopped, cause: error })
  const setting = settingOf(thrown)
  if (setting) return new ConfigError({ ...setting, where, cause: error })
  const status = statusOf(error)
  if (isRefusal(thrown))
    return new ConfigError({
      what: `the bucket refused a request (${words(thrown, status)})`,
      where,
      next: 'see that AWS_ENDPOINT_URL names an S3 service, and what it says about this',
      cause: error,
    })
  const isOfDisk = ['ENOSPC', 'EDQUOT', 'EACCES', 'EROFS', 'EPERM', 'ENOENT', 'EFBIG'].includes(code ?? '')
  if (isOfDisk || (code === undefined && status === undefined && !/timeout|network|stream/i.test(name)))
    return error
  return new BucketUnreached({
    what: `the bucket cannot be reached (${words(thrown, status)})`,
    where,
    next: 'nothing that was read is lost; see that the service works, and run again',
    cause: error,
  })
}
