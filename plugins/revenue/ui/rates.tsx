import { lazy, Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import {
  Button,
  Card,
  type Column,
  DataTable,
  Dialog,
  dayText,
  EmptyState,
  exact,
  FilterRow,
  Form,
  PagedTable,
  put,
  QueryResult,
  queryOf,
  SelectField,
  TextField,
  toast,
  useFilters,
  useRows,
  useSiteId,
} from "#plugin/ui"
import type { RateResponse } from "../rates/rates.ts"
import type { ReportResponse } from "../report/responses.ts"
import { revenuePath, useRefresh, useRights, useSiteQuery } from "./answers.ts"
import { RevenuePage } from "./frame.tsx"
import { unconvertedText } from "./money.ts"

const UploadDialog = lazy(() => import("./upload-dialog.tsx"))

const SOURCES: Readonly<Record<RateResponse["source"], string>> = { manual: "Entered", csv: "Uploaded", ecb: "European Central Bank" }

/** Page with the exchange rates of the site, and the days on which one is missing. */
export default function Rates() {
  const siteId = useSiteId()
  const { changesSettings } = useRights(siteId)
  const [filters, choose] = useFilters(["base", "quote", "scope"])
  const [dialog, setDialog] = useState<"add" | "upload">()
  const rows = useRows<RateResponse>(["revenue", siteId, "rates"], `${revenuePath(siteId)}/rates`, filters)
  const close = () => setDialog(undefined)
  const code = (text: string) => text.toUpperCase().slice(0, 3)
  return (
    <RevenuePage
      siteId={siteId}
      title="Exchange rates"
      actions={
        changesSettings && (
          <>
            <Button onClick={() => setDialog("upload")}>Upload CSV</Button>
            <Button kind="primary" icon="plus" onClick={() => setDialog("add")}>
              Add rate
            </Button>
          </>
        )
      }
    >
      {(queryOf(filters) !== "" || (rows.rows?.length ?? 0) > 0) && (
        <FilterRow label="Exchange rates">
          <TextField
            label="Base"
            value={filters.base ?? ""}
            onValue={(base) => choose({ base: code(base) })}
            maxLength={3}
            placeholder="EUR"
          />
          <TextField
            label="Quote"
            value={filters.quote ?? ""}
            onValue={(quote) => choose({ quote: code(quote) })}
            maxLength={3}
            placeholder="USD"
          />
          <SelectField
            label="Rates of"
            value={filters.scope ?? ""}
            options={[
              { value: "", label: "Site and instance" },
              { value: "site", label: "This site" },
              { value: "instance", label: "The instance" },
            ]}
            onValue={(scope) => choose({ scope })}
          />
        </FilterRow>
      )}
      <PagedTable
        stacks
        of={rows}
        caption="Exchange rates"
        columns={COLUMNS}
        keyOf={({ day, base, quote, scope }) => `${day} ${base} ${quote} ${scope}`}
        empty="No exchange rates yet. They are needed to convert amounts to one currency."
      />
      {rows.rows && <Gaps siteId={siteId} />}
      <Suspense fallback={null}>
        {dialog === "upload" && <UploadDialog siteId={siteId} kind="rates" onClose={close} />}
        {dialog === "add" && <RateDialog siteId={siteId} onClose={close} />}
      </Suspense>
    </RevenuePage>
  )
}

const COLUMNS: Column<RateResponse>[] = [
  { id: "day", label: "Day", cell: ({ day }) => <span class="whole">{dayText(day)}</span> },
  { id: "pair", label: "Currencies", cell: ({ base, quote }) => `1 ${base} in ${quote}` },
  { id: "rate", label: "Rate", number: true, cell: ({ rate }) => rate },
  { id: "source", label: "Source", cell: ({ source, scope }) => `${SOURCES[source]}${scope === "instance" ? ", all sites" : ""}` },
]

/** Days of one month on which amounts of one currency have no rate. */
type Gap = NonNullable<ReportResponse["meta"]["rate_missing"]>["days"]
const NAMED_DAYS = 4

const gapKey = ([first]: Gap): string => `${first!.day} ${first!.currency}`

const gapColumns = (to: string): Column<Gap>[] => [
  {
    id: "month",
    label: "Month",
    cell: ([first]) => <span class="whole">{dayText(first!.day, { weekday: undefined, day: undefined, month: "long" })}</span>,
  },
  { id: "pair", label: "Currencies", cell: ([first]) => <span class="whole">{`${first!.currency} to ${to}`}</span> },
  { id: "days", label: "Days", number: true, cell: ({ length }) => exact(length) },
  {
    id: "latest",
    label: "Latest amounts",
    wideOnly: true,
    cell: (days) => {
      const named = days
        .slice(0, NAMED_DAYS)
        .map((one) => `${dayText(one.day, { weekday: undefined, year: undefined })} ${unconvertedText(one)}`)
      return <div class="quiet">{[...named, ...(days.length > NAMED_DAYS ? ["…"] : [])].join(", ")}</div>
    },
  },
]

/** Months of the last year in which amounts have no rate to the base currency. */
function Gaps({ siteId }: { siteId: number }) {
  const report = useSiteQuery<ReportResponse>(siteId, "revenue/report?period=12mo&currency=base&interval=month&limit=1")
  return (
    <Card title="Days without a rate, last 12 months" full>
      <QueryResult of={report} rows={2}>
        {({ base, meta }) => {
          const days = meta.rate_missing?.days ?? []
          if (!base || base.complete)
            return (
              <EmptyState>{`Every amount of the last 12 months can be converted to ${base?.currency ?? "the base currency"}.`}</EmptyState>
            )
          const rows = [...Map.groupBy(days, ({ day, currency }) => `${day.slice(0, 7)} ${currency}`).values()]
          const earlier = (meta.rate_missing?.total ?? 0) - days.length
          return (
            <>
              <DataTable caption="Days without a rate" columns={gapColumns(base.currency)} rows={rows} keyOf={gapKey} />
              {earlier > 0 && <p class="small quiet">And {earlier} earlier days.</p>}
            </>
          )
        }}
      </QueryResult>
    </Card>
  )
}

function RateDialog({ siteId, onClose }: { siteId: number; onClose(): void }) {
  const [day, setDay] = useState(new Date().toISOString().slice(0, 10))
  const [base, setBase] = useState("EUR")
  const [quote, setQuote] = useState("")
  const [rate, setRate] = useState("")
  const refresh = useRefresh(siteId)
  const submit = async () => {
    const given = { day, base: base.trim().toUpperCase(), quote: quote.trim().toUpperCase(), rate: rate.trim() }
    await put(`${revenuePath(siteId)}/rates`, { rates: [given] })
    await refresh()
    toast("Exchange rate saved")
    onClose()
  }
  return (
    <Dialog title="Add exchange rate" onClose={onClose}>
      <Form submit={submit} label="Exchange rate">
        {({ busy, errorOf }) => (
          <>
            <TextField label="Day" type="date" value={day} onValue={setDay} error={errorOf("/rates/0/day")} />
            <div class="narrow-fields">
              <TextField label="From currency" value={base} onValue={setBase} error={errorOf("/rates/0/base")} maxLength={3} />
              <TextField label="To currency" value={quote} onValue={setQuote} error={errorOf("/rates/0/quote")} maxLength={3} autofocus />
              <TextField
                label="Rate"
                value={rate}
                onValue={setRate}
                inputMode="decimal"
                error={errorOf("/rates/0/rate") ?? errorOf("/rates/0")}
              />
            </div>
            <p class="small quiet">
              A rate also holds for the 7 days after it, unless they have their own. It replaces the one of the same day.
            </p>
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Save rate
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
