import { exact, money, short } from "#plugin/ui"
import type { Totals } from "../responses.ts"

/** The totals of an import, like the figures above a chart. */
export function TotalFigures({ totals, label }: { totals: Totals; label: string }) {
  const { visitors, visits, pageviews, events, revenue = [] } = totals
  const counts = [
    ["Visitors", visitors],
    ["Visits", visits],
    ["Views", pageviews],
    ["Events", events],
  ] as const
  return (
    <section class="instrument total-figures" aria-label={label}>
      <div class="strip">
        {counts.map(([name, count]) => (
          <div key={name} class="figure">
            <span class="figure-label">{name}</span>
            <span class="figure-value" title={exact(count)}>
              {short(count)}
            </span>
          </div>
        ))}
        {revenue.map(({ currency, amount }) => (
          <div key={currency} class="figure">
            <span class="figure-label">Revenue, {currency}</span>
            <span class="figure-value">{money(Number(amount), currency)}</span>
          </div>
        ))}
      </div>
    </section>
  )
}
