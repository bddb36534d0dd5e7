/** Where a bucket is, as the settings and the environment say. */
export interface BucketPlace {
  /** As messages name it. */
  readonly url: string
  readonly bucket: string
  /** Precedes every key; ends with a slash unless it is empty. */
  readonly prefix: string
  /** Of another service than that of AWS, which has no host name for each bucket. */
  readonly isOther: boolean
  /** The key of AWS KMS with which it encrypts what is put; its own setting decides without it. */
  readonly kmsKey?: string
}

/** Where pages are landed. */
export interface LandingPlace {
  /** The landing, or what temporary files of a bucket lie beside. */
  readonly folder: string
  readonly bucket?: BucketPlace | undefined
}
