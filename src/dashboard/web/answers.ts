/** Fetches the answers for the page: from the server, or in a report from the file itself. */
import type { FilterChoices, PageAnswer, RowsAnswer } from '../answers.ts'
import type { Period } from '../periods.ts'
import type { ReportData, ViewPanels, Views } from '../report.ts'

export type OfferedFilters = Pick<Views, 'cut' | 'periods'>

export interface PageName {
  readonly id: string
  readonly title: string
  readonly question: string
  /** Whether it changes with the view of a party. */
  readonly hasPerspectives: boolean
}

export interface AnswerSource {
  readonly pages: readonly PageName[]
  readonly choices: Promise<FilterChoices>
  /** Dates to choose at once; none in a report, which offers its own. */
  readonly dates: Promise<readonly Period[]>
  /** In a report: the filters that it offers, one at a time. */
  readonly offered: OfferedFilters | undefined
  readonly madeAt: string | undefined
  readonly filtered: readonly string[]
  page(id: string, query: URLSearchParams, signal: AbortSignal): Promise<PageAnswer>
  /** In a report: every page at once, for print. */
  readonly every?: (query: URLSearchParams) => PageAnswer[]
  /** Absent in a report, which holds no more rows than it shows. */
  readonly rows?: (panel: string, query: URLSearchParams) => Promise<RowsAnswer>
  readonly csv?: (panel: string, query: URLSearchParams) => Promise<string>
}

function ofReport({ madeAt, filtered, pages, views, choices, cut, periods }: ReportData): AnswerSource {
  const under = (page: PageAnswer, panels: ViewPanels): PageAnswer => ({
    ...page,
    panels: page.panels.flatMap((panel, place) => {
      const { ignored = panel.ignored, changed } = panels[panel.id] ?? {}
      if (!changed) return [{ ...panel, ignored }]
      // Panels of further currencies follow the first.
      return page.panels[place - 1]?.id === panel.id
        ? []
        : changed.map(one => ({ ...panel, ignored, ...one }))
    }),
  })
  const pageUnder = (id: string, query: URLSearchParams): PageAnswer => {
    const page = pages.find(one => one.id === id) ?? pages[0]
    if (page) return under(page, views[String(query)] ?? {})
    throw new Error('this report has no pages')
  }
  return {
    pages: pages.map(({ id, title, question, panels }) => ({
      ...{ id, title, question, hasPerspectives: panels.some(({ perspective }) => perspective !== null) },
    })),
    choices: Promise.resolve(choices),
    dates: Promise.resolve([]),
    offered: { cut, periods },
    madeAt,
    filtered,
    page: async (id, query) => pageUnder(id, query),
    every: query => pages.map(({ id }) => pageUnder(id, query)),
  }
}

async function sentenceOf(response: Response): Promise<string> {
  const text = await response.text()
  try {
    return String((JSON.parse(text) as { error?: unknown }).error ?? response.statusText)
  } catch {
    // A proxy may answer with a page of its own.
    return `the server answered ${response.status}`
  }
}

/** Throws an Error whose message is a sentence for the user. */
async function get(path: string, token: string | undefined, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(path, {
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'AbortError') throw error
    throw new Error('muster dashboard does not answer: is it still running?')
  })
  if (response.ok) return response
  throw new Error(await sentenceOf(response))
}

async function ofServer(token: string | undefined): Promise<AnswerSource> {
  const json = async <Answer>(path: string, signal?: AbortSignal): Promise<Answer> =>
    (await (await get(path, token, signal)).json()) as Answer
  return {
    pages: await json<PageName[]>('/api/pages'),
    choices: json<FilterChoices>('/api/choices'),
    dates: json<Period[]>('/api/periods'),
    offered: undefined,
    madeAt: undefined,
    filtered: [],
    page: (id, query, signal) => json<PageAnswer>(`/api/pages/${encodeURIComponent(id)}?${query}`, signal),
    rows: (panel, query) => json<RowsAnswer>(`/api/rows/${panel}?${query}`),
    csv: async (panel, query) => (await get(`/api/csv/${panel}?${query}`, token)).text(),
  }
}

export async function openAnswers(takeToken: () => string | undefined): Promise<AnswerSource> {
  const report = document.getElementById('report')?.textContent
  return report ? ofReport(JSON.parse(report) as ReportData) : ofServer(takeToken())
}
