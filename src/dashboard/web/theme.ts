/** Switches between light and dark: the system's choice until the reader chooses. */
import { h } from './dom.ts'

const key = 'muster-theme'

/** A page from a file may have no storage; then a choice lasts as long as the page. */
function stored(): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    // Refused by the browser.
    return null
  }
}

function store(theme: string): void {
  try {
    localStorage.setItem(key, theme)
  } catch {
    // Refused by the browser: the choice lasts as long as the page.
  }
}

const isDark = (): boolean => {
  const chosen = document.documentElement.dataset.theme
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
}

export function applyTheme(): void {
  const theme = stored()
  if (theme !== null) document.documentElement.dataset.theme = theme
}

export const themeButton = (): HTMLElement =>
  h(
    'button',
    {
      type: 'button',
      class: 'theme',
      'aria-label': 'Light or dark',
      title: 'Light or dark',
      click: () => {
        const theme = isDark() ? 'light' : 'dark'
        document.documentElement.dataset.theme = theme
        store(theme)
      },
    },
    '◐',
  )
