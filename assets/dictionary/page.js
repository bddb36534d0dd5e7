// The page works without this: it searches, shows one diagram at a time, and switches between light and dark.

const root = document.documentElement
const searchField = document.getElementById('search')
const resultList = document.getElementById('results')
const mostResults = 60

root.classList.add('scripted')

// Light and dark

const stored = {
  get() {
    try {
      return localStorage.getItem('muster-theme')
    } catch {
      return null
    }
  },
  set(theme) {
    try {
      localStorage.setItem('muster-theme', theme)
    } catch {
      // A page opened as a file may have no storage: the choice lasts as long as the page.
    }
  },
}

if (stored.get()) root.dataset.theme = stored.get()

document.getElementById('theme').addEventListener('click', () => {
  const prefersDark = matchMedia('(prefers-color-scheme: dark)').matches
  const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : prefersDark
  root.dataset.theme = isDark ? 'light' : 'dark'
  stored.set(root.dataset.theme)
})

// Contents, where there is no room beside the page

const menu = document.getElementById('menu')
const contents = document.getElementById('contents')

function openContents(isOpen) {
  contents.classList.toggle('open', isOpen)
  menu.setAttribute('aria-expanded', String(isOpen))
}

menu.addEventListener('click', () => openContents(!contents.classList.contains('open')))
contents.addEventListener('click', event => event.target.closest('a') && openContents(false))
contents.addEventListener('keydown', event => {
  if (event.key !== 'Escape') return
  openContents(false)
  menu.focus()
})

// Statements to copy

for (const button of document.querySelectorAll('[data-copy]'))
  button.addEventListener('click', () => {
    const told = text => {
      button.textContent = text
    }
    navigator.clipboard.writeText(button.parentElement.querySelector('code').textContent).then(
      () => told('Copied'),
      // A page from a file may not write there.
      () => told('Select the text'),
    )
  })

// Tabs

function showTab(panel) {
  const all = panel.closest('[data-tabs]')
  for (const other of all.querySelectorAll('.tab')) other.classList.toggle('current', other === panel)
  for (const tab of all.querySelectorAll('[data-tab]')) {
    const isChosen = tab.dataset.tab === panel.id
    tab.setAttribute('aria-selected', String(isChosen))
    tab.tabIndex = isChosen ? 0 : -1
  }
}

function chooseTab(event) {
  const tab = event.target.closest('[data-tab]')
  if (!tab) return
  event.preventDefault()
  showTab(document.getElementById(tab.dataset.tab))
}

function walkTabs(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
  if (!step) return
  const tabs = [...event.currentTarget.querySelectorAll('[data-tab]')]
  const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length]
  event.preventDefault()
  showTab(document.getElementById(next.dataset.tab))
  next.focus()
}

for (const tabs of document.querySelectorAll('[data-tabs]')) {
  const first = document.getElementById(tabs.dataset.tabs)
  if (first) showTab(first)
  const list = tabs.querySelector('.tab-list')
  list.addEventListener('click', chooseTab)
  list.addEventListener('keydown', walkTabs)
}

// A link may lead to what is folded away.
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!target) return
  const panel = target.closest('.tab')
  if (panel) showTab(panel)
  target.scrollIntoView()
}

addEventListener('hashchange', unfold)
if (location.hash) unfold()

// Search

let index

// Everything that can be found, read from the page once somebody searches.
function readIndex() {
  const tables = [...document.querySelectorAll('[data-table]')].map(element => ({
    id: element.id,
    about: element.querySelector('.description, td')?.textContent ?? '',
    weight: 2,
  }))
  const columns = [...document.querySelectorAll('[data-column]')].map(row => ({
    id: row.id,
    about: row.cells[2].textContent,
    fields: row.cells[4].textContent,
    weight: 0,
  }))
  return [...tables, ...columns].map(entry => ({
    ...entry,
    name: entry.id.toLowerCase(),
    last: entry.id.slice(entry.id.lastIndexOf('.') + 1).toLowerCase(),
    text: `${entry.id} ${entry.about} ${entry.fields ?? ''}`.toLowerCase(),
  }))
}

// Undefined when a word is missing; the nearer to the whole name, the more.
function rank(entry, words) {
  if (!words.every(word => entry.text.includes(word))) return undefined
  let score = entry.weight
  for (const word of words) {
    if (entry.last === word || entry.name === word) score += 100
    else if (entry.last.startsWith(word)) score += 60
    else if (entry.last.includes(`_${word}`)) score += 40
    else if (entry.name.includes(word)) score += 20
  }
  return score - entry.name.length / 100
}

function find(text) {
  index ??= readIndex()
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  return index
    .map(entry => ({ entry, score: rank(entry, words) }))
    .filter(({ score }) => score !== undefined)
    .sort((one, other) => other.score - one.score)
    .slice(0, mostResults)
    .map(({ entry }) => entry)
}

function element(name, className, text) {
  const made = document.createElement(name)
  made.className = className
  made.textContent = text
  return made
}

function resultItem(entry, position) {
  const item = document.createElement('li')
  item.id = `result-${position}`
  item.setAttribute('role', 'option')
  item.dataset.target = entry.id
  const found = element('span', 'found', '')
  const at = entry.id.lastIndexOf('.') + 1
  found.append(
    entry.id.slice(0, at),
    Object.assign(document.createElement('b'), { textContent: entry.id.slice(at) }),
  )
  item.append(found, element('span', 'about', entry.about))
  return item
}

function select(item) {
  for (const other of resultList.children) other.setAttribute('aria-selected', String(other === item))
  if (!item) return
  searchField.setAttribute('aria-activedescendant', item.id)
  item.scrollIntoView({ block: 'nearest' })
}

function close() {
  resultList.hidden = true
  searchField.setAttribute('aria-expanded', 'false')
  searchField.removeAttribute('aria-activedescendant')
}

function showResults() {
  const found = find(searchField.value)
  if (searchField.value.trim() === '') {
    close()
    return
  }
  const items = found.map(resultItem)
  resultList.replaceChildren(
    ...(items.length > 0 ? items : [element('li', 'nothing', 'Nothing has these words.')]),
  )
  resultList.hidden = false
  searchField.setAttribute('aria-expanded', 'true')
  select(items[0])
}

function go(item) {
  if (!item?.dataset.target) return
  close()
  searchField.blur()
  location.hash = item.dataset.target
  unfold()
}

function searchKeys(event) {
  const items = [...resultList.children]
  const current = items.findIndex(item => item.getAttribute('aria-selected') === 'true')
  const steps = { ArrowDown: 1, ArrowUp: -1 }
  if (event.key in steps && items.length > 0) {
    event.preventDefault()
    select(items[(current + steps[event.key] + items.length) % items.length])
  } else if (event.key === 'Enter') go(items[current])
  else if (event.key === 'Escape') {
    close()
    searchField.blur()
  }
}

searchField.addEventListener('input', showResults)
searchField.addEventListener('focus', showResults)
searchField.addEventListener('keydown', searchKeys)
resultList.addEventListener('mousedown', event => {
  event.preventDefault()
  go(event.target.closest('li'))
})
searchField.addEventListener('blur', close)

addEventListener('keydown', event => {
  const isTyping = event.target instanceof HTMLInputElement
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  searchField.focus()
  searchField.select()
})

// Where one is

const sideLinks = new Map([...document.querySelectorAll('.side a')].map(link => [link.hash.slice(1), link]))

const watcher = new IntersectionObserver(
  entries => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue
      for (const link of sideLinks.values()) link.removeAttribute('aria-current')
      const link = sideLinks.get(target.id)
      link.setAttribute('aria-current', 'true')
      link.scrollIntoView({ block: 'nearest' })
    }
  },
  { rootMargin: '-70px 0px -75% 0px' },
)

for (const id of sideLinks.keys()) {
  const target = document.getElementById(id)
  if (target && !target.classList.contains('schema')) watcher.observe(target)
}

// Diagrams: the links of a box stand out while it is pointed at.

function light(drawing, id) {
  drawing.classList.toggle('pointed', id !== undefined)
  for (const link of drawing.querySelectorAll('.link'))
    link.classList.toggle('lit', link.dataset.from === id || link.dataset.to === id)
}

for (const drawing of document.querySelectorAll('.drawing')) {
  drawing.addEventListener('pointerover', event => light(drawing, event.target.closest('.box')?.dataset.box))
  drawing.addEventListener('pointerleave', () => light(drawing, undefined))
}

// Paper shows what a screen folds away.

let folded = []
addEventListener('beforeprint', () => {
  folded = [...document.querySelectorAll('main details:not([open], .used)')]
  for (const details of folded) details.open = true
})
addEventListener('afterprint', () => {
  for (const details of folded) details.open = false
})
