/**
 * npm run coverage:contract
 * Prints a table of every operation, parameter, body field, key rule, error, limit and event of the contract, each with the
 * section of the contract and the name of its test in test/contract/contract.runs.test.ts.
 */
import { coverageTables } from './coverage-tables.ts'

// Modules of the sandbox keep the process alive.
process.stdout.write(`${coverageTables()}\n`, () => process.exit())
