/** Completes the texts of the dictionary: finds the noun of a table, and adds it to short descriptions. */

const spoken: Readonly<Record<string, string>> = {
  afp: 'application for payment',
  msp: 'managed service provider',
  api_key: 'API key',
  meta_field: 'custom field',
}

/** `dim_api_key`, `api_key` and `api_key_id` are an API key. */
export function nounOf(name: string): string {
  const entity = name.replace(/^(dim|fact|bridge)_/, '').replace(/_(id|key)$/, '')
  return spoken[entity] ?? spoken[`${entity}_key`] ?? entity.replaceAll('_', ' ')
}

/** Completes a description of one or two words, which says too little without its table. */
export const fullDescription = (description: string, noun: string): string =>
  /^[\w-]+( [\w-]+)?\.?$/.test(description)
    ? `${description.replace(/\.$/, '')} of the ${noun}.`
    : description

const who = /^(?:(\w+ed)_)?by_user_id$/

/** `approved_by_user_id` is the user who approved it: a table that names several users says what each did. */
export function roleText(column: string, description: string): string {
  const role = who.exec(column)
  if (!role || !description.startsWith('The user,')) return description
  return description.replace('The user,', () =>
    role[1] === undefined ? 'The user who did it,' : `The user who ${role[1]} it,`,
  )
}
