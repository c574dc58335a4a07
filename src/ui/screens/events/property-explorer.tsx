import { Link } from "wouter"
import type { Properties } from "../../../domain/insight.ts"
import { rangeArguments } from "../../../domain/site-address.ts"
import { isFilteredBy, toggledFilter, useSiteAddress } from "../../browser/address.ts"
import { SelectField } from "../../parts/form/fields.tsx"
import { Card } from "../../parts/page.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { CardResult } from "../../report/cards/card-answer.tsx"
import { RankedList, type RankedRow } from "../../report/cards/ranked-list.tsx"
import { useReport, useStatsSource } from "../../report/data/reports.ts"
import { counted, exact } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"

interface PropertyExplorerProps {
  /** Event names to choose from. */
  events: readonly string[]
  /** Chosen event, or undefined for all events. */
  event: string | undefined
  onEvent(event: string | undefined): void
}

const KEYS = 20
const ALL = ""

/** Shows the properties of an event with their most frequent values. A click on a value filters by it. */
export function PropertyExplorer({ events, event, onEvent }: PropertyExplorerProps) {
  const { address } = useSiteAddress()
  const report = useReport("properties", { ...rangeArguments(address), ...(event !== undefined && { event }), limit: KEYS })
  const names = event === undefined || events.includes(event) ? events : [event, ...events]
  return (
    <Card title="Properties" full>
      <div class="split-field">
        <SelectField
          label="Event"
          value={event ?? ALL}
          options={[{ value: ALL, label: "All events" }, ...names.map((name) => ({ value: name, label: visible(name) }))]}
          onValue={(name) => onEvent(name === ALL ? undefined : name)}
        />
      </div>
      <CardResult of={report}>
        {(data) => {
          const { data: keys, total_properties } = data as Properties // the result of the properties report
          if (keys.length === 0)
            return (
              <EmptyState>
                {event === undefined ? "No events with properties" : `No ${visible(event)} events with properties`} in this period.
              </EmptyState>
            )
          return (
            <div class="stack">
              <div class="property-list">
                {keys.map((key) => (
                  <PropertyValues key={key.property} found={key} event={event} />
                ))}
              </div>
              {total_properties > keys.length && (
                <p class="small quiet">{exact(total_properties - keys.length)} more properties aren't shown.</p>
              )}
            </div>
          )
        }}
      </CardResult>
    </Card>
  )
}

interface PropertyValuesProps {
  found: Properties["data"][number]
  event: string | undefined
}

function PropertyValues({ found: { property, events, values, total_values }, event }: PropertyValuesProps) {
  const { siteId, address, searchWith } = useSiteAddress()
  const all =
    event === undefined || isFilteredBy(address.filters, "event", event)
      ? address.filters
      : [...address.filters, { dimension: "event" as const, operator: "is" as const, values: [event] }]
  const { filters: changesFilters } = useStatsSource()
  const of = { dimension: "property", property } as const
  return (
    <section aria-label={`Property ${visible(property)}`}>
      <div class="row spread">
        <h3>{visible(property)}</h3>
        <span class="small quiet">{`${counted(events, "event")}, ${counted(total_values, "value")}`}</span>
      </div>
      <RankedList
        title="Value"
        rows={values as RankedRow[]}
        metrics={["events", "visitors"]}
        isChosen={(value) => isFilteredBy(address.filters, "property", value, property)}
        addressOf={
          changesFilters
            ? (value) => `/sites/${siteId}/events${searchWith({ filters: toggledFilter(address.filters, of, value) })}`
            : undefined
        }
      />
      {total_values > values.length && (
        <p class="small">
          <Link href={`/sites/${siteId}/details/${encodeURIComponent(`property:${property}`)}${searchWith({ filters: all })}`}>
            Show {exact(total_values - values.length)} more
          </Link>
        </p>
      )}
    </section>
  )
}
