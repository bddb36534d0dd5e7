/** The filters and searches of timesheets, expenses and invoices. */
import { expect, it } from 'vitest'
import { type Body, openSandbox } from '../open-sandbox.ts'

const sandbox = await openSandbox({ provokesViolations: true })
const timesheets = sandbox.world.all('timesheets') as Body[]
const expenses = sandbox.world.all('expenses') as Body[]
const invoices = sandbox.world.all('invoices') as Body[]

async function expectTotal(path: string, total: number) {
  const { body, status } = await sandbox.get(path)
  expect(status, path).toBe(200)
  expect(body.meta.total, path).toBe(total)
  expect(total, path).toBeGreaterThan(0)
}

it('filters timesheets by one id or several', async () => {
  const [one, two] = [timesheets[10], timesheets.find(row => row.worker.id !== timesheets[10].worker.id)]
  for (const name of ['project', 'site', 'assignment', 'worker', 'agency']) {
    const ids = [one[name].id, two[name].id]
    const matching = (wanted: string[]) => timesheets.filter(row => wanted.includes(row[name].id)).length
    await expectTotal(`/timesheets?${name}=${ids[0]}`, matching(ids.slice(0, 1)))
    await expectTotal(`/timesheets?${name}=${ids.join(',')}`, matching(ids))
  }
})

it('searches timesheets by reference, worker and agency', async () => {
  const { reference, worker, workerReference, agency } = timesheets[100]
  await expectTotal(`/timesheets?query=${reference.toLowerCase()}`, 1)
  const assignments = timesheets.filter(row => row.workerReference === workerReference).length
  await expectTotal(`/timesheets?query=${workerReference}`, assignments)
  const name = worker.name.toUpperCase()
  await expectTotal(
    `/timesheets?query=${encodeURIComponent(name)}`,
    timesheets.filter(row => row.worker.name === worker.name).length,
  )
  await expectTotal(
    `/timesheets?query=${encodeURIComponent(agency.name)}`,
    timesheets.filter(row => row.agency.id === agency.id).length,
  )
})

it('adds timelogs when asked, and never the hidden reference', async () => {
  const plain = (await sandbox.get('/timesheets?limit=5')).body.data[0]
  expect(plain).not.toHaveProperty('timelogs')
  expect(plain).not.toHaveProperty('workerReference')
  const full = (await sandbox.get('/timesheets?limit=5&includeTimelogs=true')).body.data[0]
  const { timelogs, ...rest } = full
  expect(rest).toEqual(plain)
  expect(Array.isArray(timelogs)).toBe(true)
  const picked = (
    await sandbox.get('/timesheets?limit=5&includeTimelogs=true&fields=timelogs.hours.total&status=approved')
  ).body
  expect(Object.keys(picked.data[0])).toEqual(['timelogs'])
  expect(picked.data[0].timelogs[0]).toEqual({ hours: { total: expect.any(Number) } })
  const without = (await sandbox.get('/timesheets?limit=1&fields=id,timelogs')).body.data[0]
  expect(Object.keys(without)).toEqual(['id'])
})

it('filters expenses by project, timesheet, worker, agency, category and text', async () => {
  const linked = expenses.find(row => row.timesheet && row.description)
  for (const name of ['project', 'timesheet', 'worker', 'agency']) {
    const id = linked[name].id
    await expectTotal(`/expenses?${name}=${id}`, expenses.filter(row => row[name]?.id === id).length)
    expect((await sandbox.get(`/expenses?${name}=${id},${id}`)).status).toBe(400)
  }
  const inCategory = expenses.filter(row => row.category === 'Driving hours').length
  await expectTotal('/expenses?category=Driving%20hours', inCategory)
  await expectTotal('/expenses?query=DRIVING', inCategory)
  expect((await sandbox.get('/expenses?category=driving%20hours')).status).toBe(400)
  const day = linked.date.slice(0, 10)
  await expectTotal(
    `/expenses?from=${day}&to=${day}`,
    expenses.filter(row => row.date.startsWith(day)).length,
  )
})

it('filters invoices by kind, project and agency, and searches their timesheets', async () => {
  const [invoice] = invoices
  await expectTotal(
    `/invoices?project=${invoice.projects[0].id}`,
    invoices.filter(row => row.projects.some((ref: Body) => ref.id === invoice.projects[0].id)).length,
  )
  await expectTotal(
    `/invoices?agency=${invoice.agency.id}`,
    invoices.filter(row => row.agency.id === invoice.agency.id).length,
  )
  for (const type of ['supplierToClient', 'supplierToMsp', 'mspToClient']) {
    await expectTotal(
      `/invoices?invoiceType=${type}`,
      invoices.filter(row => row.invoiceType === type).length,
    )
  }
  await expectTotal(
    '/invoices?mspInvoiceType=payable',
    invoices.filter(row => row.mspInvoiceType === 'payable').length,
  )
  await expectTotal('/invoices?query=openfield', invoices.filter(row => row.msp).length)
  const reference = invoice.timesheets[0].reference
  await expectTotal(
    `/invoices?query=${reference}`,
    invoices.filter(row => row.timesheets.some((sheet: Body) => sheet.reference === reference)).length,
  )
})
