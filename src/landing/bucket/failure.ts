/** Turns a bucket's errors into one line: which setting to correct, or that it may work later. */
import { ConfigError, MusterError, StatementInterrupted } from '../../lib/errors.ts'

export class BucketUnreached extends MusterError {
  override readonly exitCode = 75
}

/** The known fields of an error that the client throws. */
interface ThrownError {
  readonly name?: string
  readonly message?: string
  readonly code?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> }
}

export const statusOf = (error: unknown): number | undefined =>
  (Object(error) as ThrownError).$metadata?.httpStatusCode

interface FailureTexts {
  readonly what: string
  readonly next: string
}

const credentials =
  'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role'

function regionOf({ $response }: ThrownError): FailureTexts {
  const region = $response?.headers?.['x-amz-bucket-region']
  return region === undefined
    ? { what: 'the bucket is in another region', next: 'set AWS_REGION to the region of the bucket' }
    : { what: `the bucket is in the region ${region}`, next: `set AWS_REGION=${region}` }
}

const forbidden: FailureTexts = {
  what: 'the credentials may not use the bucket',
  next: 'allow them s3:ListBucket on it, and s3:GetObject, s3:PutObject and s3:DeleteObject below its prefix',
}

/** By error name. */
const byName: Readonly<Record<string, FailureTexts>> = {
  CredentialsProviderError: { what: 'there are no credentials for the bucket', next: credentials },
  NoSuchBucket: { what: 'there is no such bucket', next: 'create it, or correct landing' },
  InvalidBucketName: { what: 'no bucket can have this name', next: 'correct landing' },
  InvalidAccessKeyId: { what: 'the service does not know the access key', next: credentials },
  SignatureDoesNotMatch: { what: 'the secret access key is wrong', next: credentials },
  ExpiredToken: { what: 'the credentials for the bucket have expired', next: credentials },
  ExpiredTokenException: { what: 'the credentials for the bucket have expired', next: credentials },
  RequestTimeTooSkewed: {
    what: 'the clock of this machine is wrong',
    next: 'set it: requests are signed with the time',
  },
}

/** Describes a wrong or missing setting; undefined when that is not the cause. */
function settingOf(error: ThrownError): FailureTexts | undefined {
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

/** The response is not from an S3 service, or says that the request cannot be served. */
function isRefusal(error: ThrownError): boolean {
  const status = statusOf(error)
  return status !== undefined && status >= 400 && status < 500 && ![408, 429].includes(status)
}

const words = ({ name = '', message = '', code }: ThrownError, status: number | undefined): string =>
  [status, code ?? name, code === undefined ? undefined : message.split('\n')[0]]
    .filter(part => part !== undefined && part !== '')
    .join(' ')

/** Describes a bucket failure in one line; returns other errors unchanged. */
export function bucketFailure(error: unknown, where: string): unknown {
  if (error instanceof MusterError) return error
  const thrown = Object(error) as ThrownError
  const { name = '', code } = thrown
  const stopped = 'everything read so far is loaded; run again to continue'
  if (name === 'AbortError')
    return new StatementInterrupted({ what: 'stopped as asked', where, next: stopped, cause: error })
  const setting = settingOf(thrown)
  if (setting) return new ConfigError({ ...setting, where, cause: error })
  const status = statusOf(error)
  if (isRefusal(thrown))
    return new ConfigError({
      what: `the bucket refused a request (${words(thrown, status)})`,
      where,
      next: 'check that AWS_ENDPOINT_URL names an S3 service, and look at its logs',
      cause: error,
    })
  const isOfDisk = ['ENOSPC', 'EDQUOT', 'EACCES', 'EROFS', 'EPERM', 'ENOENT', 'EFBIG'].includes(code ?? '')
  if (isOfDisk || (code === undefined && status === undefined && !/timeout|network|stream/i.test(name)))
    return error
  return new BucketUnreached({
    what: `the bucket cannot be reached (${words(thrown, status)})`,
    where,
    next: 'nothing is lost; check that the service is up, and run again',
    cause: error,
  })
}
