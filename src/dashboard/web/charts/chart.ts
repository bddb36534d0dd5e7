/** What every chart is drawn from, and how a click on a shape finds its row. */
import * as Plot from '@observablehq/plot'
import type { Row } from '../../answers.ts'
import type { Figure } from '../../panel.ts'

export interface ChartParts {
  readonly rows: readonly Row[]
  /** The figure to draw, of those that the panel offers. */
  readonly figure: Figure
  /** Pixels. */
  readonly width: number
  readonly title: string
  readonly open?: ((row: Row) => void) | undefined
}

/** Type and colours come from the style sheet, so that both themes apply without drawing anew. */
export function plotted(title: string, options: Plot.PlotOptions): SVGSVGElement {
  const drawn = Plot.plot({ ...options, figure: false, ariaLabel: title, className: 'chart' })
  const svg = drawn as SVGSVGElement
  svg.setAttribute('role', 'img')
  // Plot names each layer; a group without a role may have no name of its own.
  for (const layer of svg.querySelectorAll<SVGElement>('g[aria-label]')) {
    layer.dataset.layer = layer.getAttribute('aria-label') ?? ''
    layer.removeAttribute('aria-label')
  }
  return svg
}

/** Shapes of a layer stand in the order of their rows; the table behind a chart opens the same rows by keyboard. */
export function openOnClick(
  svg: SVGSVGElement,
  { layer, rows, open }: { layer: string; rows: readonly Row[]; open: ((row: Row) => void) | undefined },
): void {
  if (!open) return
  const shapes = svg.querySelectorAll<SVGElement>(`g[data-layer="${layer}"] > *`)
  rows.forEach((row, index) => {
    const shape = shapes[index]
    if (!shape) return
    shape.classList.add('opens')
    shape.addEventListener('click', () => open(row))
  })
}

/** Names longer than their place end in an ellipsis; the table has them whole. */
export const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text
