/** The settings that name keys of encryption: each by a variable, or by a file. */
import * as z from 'zod'

export const keyShape = {
  landingKey: z
    .string()
    .optional()
    .describe('Encrypts landed pages: 32 bytes in hexadecimal or base64, from an environment variable.'),
  landingKeyFile: z
    .string()
    .min(1, 'must name a file')
    .optional()
    .describe('A file with such keys, one a line: the first one encrypts, all decrypt.'),
  warehouseKey: z
    .string()
    .optional()
    .describe(
      'DuckDB only: encrypts the warehouse file; 32 bytes in hexadecimal or base64, from an environment variable.',
    ),
  warehouseKeyFile: z.string().min(1, 'must name a file').optional().describe('A file with such a key.'),
}
