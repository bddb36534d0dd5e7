/** Saves what a panel shows: its rows as CSV, its chart as PNG. */
import type { PanelAnswer } from '../../answers.ts'
import { toCsv } from '../../csv.ts'
import { nameOf } from './currency.ts'

function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

export const saveCsv = (name: string, text: string): void =>
  save(`${name}.csv`, new Blob([text], { type: 'text/csv;charset=utf-8' }))

export function savePanelCsv(panel: PanelAnswer): void {
  const { rows } = panel
  saveCsv(nameOf(panel), toCsv(Object.keys(rows[0] ?? {}), rows))
}

const inlined = [
  'fill',
  'stroke',
  'fill-opacity',
  'stroke-opacity',
  'font-family',
  'font-size',
  'font-weight',
]

/** Copies colours and type from the page into the elements, as an image has no style sheet. */
function standing(svg: SVGSVGElement): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement
  const originals = [svg, ...svg.querySelectorAll<SVGElement>('*')]
  const copies = [copy, ...copy.querySelectorAll<SVGElement>('*')]
  originals.forEach((original, index) => {
    const style = getComputedStyle(original)
    const target = copies[index]
    if (!target || original.tagName === 'style') return
    for (const name of inlined) {
      const value = style.getPropertyValue(name)
      if (value !== '') target.style.setProperty(name, value)
    }
  })
  for (const style of copy.querySelectorAll('style')) style.remove()
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  return copy
}

/** Doubles the size, to be sharp on high-density screens and in print. */
const scale = 2

export async function savePng(name: string, svg: SVGSVGElement): Promise<void> {
  const { width, height } = svg.getBoundingClientRect()
  const image = new Image(width, height)
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(standing(svg)))}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = width * scale
  canvas.height = height * scale
  const context = canvas.getContext('2d')
  if (!context) throw new Error('this browser draws no images')
  context.fillStyle = getComputedStyle(document.body).getPropertyValue('--panel') || 'white'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.drawImage(image, 0, 0, canvas.width, canvas.height)
  canvas.toBlob(blob => blob && save(`${name}.png`, blob), 'image/png')
}
