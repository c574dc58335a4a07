import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { Link } from "wouter"
import { Button, ErrorState, get, Problem, SelectField, Skeleton, TextField, visible } from "#plugin/ui"
import { EXPORT_GUIDES } from "./exports.ts"
import type { Options } from "./options.tsx"
import { type Input, newKey } from "./uploads.ts"

/** A property that a connected Google account can read, as the area of integrations lists it. */
interface Property {
  connection_id: number
  property: string
  label: string
}

interface PropertyStepProps {
  siteId: number
  source: string
  onInput(input: Input, options: Options): void
}

/** Second step for data that Footfall fetches itself: the property of a connected account, and the days. */
export default function PropertyStep({ siteId, source, onInput }: PropertyStepProps) {
  const asked = useQuery({
    queryKey: ["analytics-properties", siteId],
    queryFn: ({ signal }) => get<{ data: Property[] }>(`/api/private/sites/${siteId}/integrations/google-analytics/properties`, signal),
    retry: false,
  })
  const { data, error, refetch } = asked
  return (
    <div class="stack">
      {EXPORT_GUIDES[source] && <p class="reading-width">{EXPORT_GUIDES[source].steps}</p>}
      {error && !isUnconnected(error) && <ErrorState error={error} onRetry={() => void refetch()} />}
      {(error ? isUnconnected(error) : data?.data.length === 0) && <Unconnected siteId={siteId} hasAccount={!error} />}
      {!data && !error && <Skeleton rows={4} />}
      {data && data.data.length > 0 && <Choice properties={data.data} onInput={onInput} />}
    </div>
  )
}

/** No account is connected, its access has ended, or the area of integrations is turned off. */
const isUnconnected = (error: Error): boolean =>
  error instanceof Problem && (error.status === 404 || error.code === "not_connected" || error.code === "needs_reauth")

const Unconnected = ({ siteId, hasAccount }: { siteId: number; hasAccount: boolean }) => (
  <div class="import-note" data-kind="warn">
    <h3>{hasAccount ? "No properties" : "Google Analytics is not connected"}</h3>
    <p>
      {hasAccount
        ? "The connected account can't read any property of Google Analytics 4. Connect another account, or give this one the role Viewer in Google Analytics."
        : "Connect a Google account that can read the property, then come back to this page."}
    </p>
    <p>
      <Link href={`/sites/${siteId}/integrations`}>Open integrations</Link>
    </p>
  </div>
)

const keyOf = ({ connection_id, property }: Property): string => `${connection_id} ${property}`

function Choice({ properties, onInput }: { properties: readonly Property[]; onInput: PropertyStepProps["onInput"] }) {
  const [key, setKey] = useState(keyOf(properties[0]!)) // the list is not empty
  const [from, setFrom] = useState("")
  const [to, setTo] = useState("")
  const chosen = properties.find((one) => keyOf(one) === key) ?? properties[0]!
  const isReversed = from !== "" && to !== "" && from > to
  const preview = () => {
    const { connection_id, property, label } = chosen
    onInput({ key: newKey(), fetched: label }, { connection_id, property, ...(from !== "" && { from }), ...(to !== "" && { to }) })
  }
  return (
    <>
      <SelectField
        label="Property"
        value={key}
        options={properties.map((one) => ({
          value: keyOf(one),
          label: `${visible(one.label)} (${one.property.replace("properties/", "")})`,
        }))}
        onValue={setKey}
      />
      <div class="option-grid">
        <TextField type="date" label="First day" note="Default: the first day with data." value={from} onValue={setFrom} />
        <TextField
          type="date"
          label="Last day"
          note="Default: yesterday."
          value={to}
          error={isReversed ? "The last day is before the first day." : undefined}
          onValue={setTo}
        />
      </div>
      <div class="step-foot">
        <Button kind="primary" disabled={isReversed} onClick={preview}>
          Preview import
        </Button>
      </div>
    </>
  )
}
