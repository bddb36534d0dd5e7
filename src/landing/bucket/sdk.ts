/** Exports the used parts of the AWS client, in a module that is loaded only when a bucket is used. */
export {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
