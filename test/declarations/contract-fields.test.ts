/** No field of the contract is left out of the declarations, and no declaration names a field it does not have. */
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../src/contract/catalogue.ts'
import { declaredPaths, openDocuments, shapeOf } from '../../src/contract/derived/json-shape.ts'
import { tablesOf } from '../../src/contract/fields/table.ts'
import { contractFields } from './contract-fields.ts'

test('the contract is typed out for every resource', () => {
  expect(Object.keys(contractFields).sort()).toEqual(catalogue.map(({ name }) => name).sort())
})

describe.each(catalogue.map(resource => ({ name: resource.name, resource })))(
  '$name',
  ({ name, resource }) => {
    const paths = declaredPaths(shapeOf(resource.table))
    const leaves = new Set(paths.filter(({ kind }) => kind === 'leaf').map(({ path }) => path))
    const documents = openDocuments(resource.table).map(({ path }) => path)
    const fields = contractFields[name] ?? []

    test('declares every field of the contract, or an open document above it', () => {
      const isHeld = (field: string) =>
        leaves.has(field) || documents.some(path => field === path || field.startsWith(`${path}.`))
      expect(fields.filter(field => !isHeld(field))).toEqual([])
    })

    test('declares nothing that the contract does not have', () => {
      const known = new Set(fields)
      const isOpen = (path: string) => fields.some(field => field.startsWith(`${path}.anyKey`))
      expect([...leaves].filter(path => !(known.has(path) || isOpen(path) || path === 'address'))).toEqual([])
    })

    test('describes every table and column', () => {
      for (const table of tablesOf(resource.table)) {
        expect(table.description).toMatch(/^(One row per|At most one row).*\.$/)
        for (const [column, { description }] of Object.entries(table.columns))
          expect({ column, description }).toEqual({ column, description: expect.stringMatching(/\S.*\.$/) })
      }
    })
  },
)
