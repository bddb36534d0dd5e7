/** Gives every amount of a panel its currency, so that each figure is written with its sign. */
import type { PanelAnswer } from '../../answers.ts'
import type { PanelDrawing, PanelFigure } from '../../panel.ts'

function inCurrency(figure: PanelFigure, currency: string): PanelFigure {
  return figure.unit === 'money' || figure.unit === 'price' ? { ...figure, currency } : figure
}

function drawingIn(show: PanelDrawing, currency: string): PanelDrawing {
  if ('figures' in show) return { ...show, figures: show.figures.map(one => inCurrency(one, currency)) }
  return 'figure' in show ? { ...show, figure: inCurrency(show.figure, currency) } : show
}

export const withCurrency = (panel: PanelAnswer): PanelAnswer =>
  panel.amountsIn === null ? panel : { ...panel, show: drawingIn(panel.show, panel.amountsIn) }
