/** Draws with what every chart shares, and finds the row behind a clicked shape. */
import * as Plot from '@observablehq/plot'
import type { PanelRow } from '../../answers.ts'
import type { PanelFigure } from '../../panel.ts'

export interface ChartParts {
  readonly rows: readonly PanelRow[]
  /** The figure to draw, of those that the panel offers. */
  readonly figure: PanelFigure
  /** Pixels. */
  readonly width: number
  readonly title: string
  readonly open?: ((row: PanelRow) => void) | undefined
}

/** Type and colours come from the style sheet, so that a change of theme needs no new drawing. */
export function plotted(title: string, options: Plot.PlotOptions): SVGSVGElement {
  const drawn = Plot.plot({ ...options, figure: false, ariaLabel: title, className: 'chart' })
  const svg = drawn as SVGSVGElement
  svg.setAttribute('role', 'img')
  // Plot labels each layer, but a group without a role must not have a label.
  for (const layer of svg.querySelectorAll<SVGElement>('g[aria-label]')) {
    const own = [...layer.classList].find(name => name.startsWith('layer-'))
    layer.dataset.layer = own?.slice('layer-'.length) ?? layer.getAttribute('aria-label') ?? ''
    layer.removeAttribute('aria-label')
  }
  return svg
}

/** Shapes of a layer are in the order of their rows. The table behind a chart opens the same rows by keyboard. */
export function openOnClick(
  svg: SVGSVGElement,
  {
    layer,
    rows,
    open,
  }: { layer: string; rows: readonly PanelRow[]; open: ((row: PanelRow) => void) | undefined },
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

/** Shortens long names with an ellipsis; the table shows them in full. */
export const shortened = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max - 1).trimEnd()}…` : text

let hatched = 0

/** Each chart has a pattern of its own, as ids are those of the page. */
export function hatchId(): string {
  hatched += 1
  return `hatch-${hatched}`
}

/** A mark that draws nothing: the pattern of weeks that are not settled. */
export function hatching(id: string): () => SVGElement {
  return () => {
    const defs = document.createElementNS('http://www.w3.org/2000/svg', 'defs')
    defs.innerHTML = `<pattern id="${id}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="5" height="5" class="hatch-ground"/><rect width="2" height="5" class="hatch"/></pattern>`
    return defs
  }
}
