import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { Answer, Button, type Column, DataTable, exact, Form, Page, post, put, TextField, toast, visible } from "#plugin/ui"
import { AskedAct } from "./act.tsx"
import type { Job, Preview } from "./answers.ts"
import { useAdmin, useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"
import { Part } from "./parts.tsx"
import { PreviewTable } from "./preview-table.tsx"
import { RetentionDialog } from "./retention-dialog.tsx"

export interface SiteRetention {
  site_id: number
  name: string
  retention_days: number | null
  source: "default" | "site"
}

interface Retention {
  default_days: number | null
  sites: SiteRetention[]
}

/** How long events are kept, and taking away what is over its time. */
export default function RetentionPage() {
  const retention = useAdmin<Retention>("retention")
  const [changing, setChanging] = useState<SiteRetention>()
  return (
    <Page title="Retention">
      <Part title="Default">
        <Answer of={retention} rows={2}>
          {({ default_days }) => <DefaultDays key={String(default_days)} days={default_days} />}
        </Answer>
      </Part>
      <Part title="By site">
        <Answer of={retention} rows={4}>
          {({ sites }) => (
            <DataTable caption="Retention by site" columns={columnsOf(setChanging)} rows={sites} keyOf={({ site_id }) => site_id} />
          )}
        </Answer>
      </Part>
      <Removal />
      {changing && <RetentionDialog site={changing} onClose={() => setChanging(undefined)} />}
    </Page>
  )
}

const daysText = (days: number | null): string => (days === null ? "for ever" : `${exact(days)} days`)

const columnsOf = (change: (site: SiteRetention) => void): Column<SiteRetention>[] => [
  { id: "name", label: "Site", cell: ({ name, site_id }) => <span class="whole">{`${visible(name)} (${site_id})`}</span> },
  { id: "days", label: "Kept", cell: ({ retention_days }) => <span class="whole">{daysText(retention_days)}</span> },
  { id: "source", label: "Set by", cell: ({ source }) => <span class="whole">{source === "site" ? "the site" : "the default"}</span> },
  {
    id: "change",
    label: "Change",
    cell: (site) => (
      <Button aria-label={`Change how long events of ${site.name} are kept`} onClick={() => change(site)}>
        Change
      </Button>
    ),
  },
]

function DefaultDays({ days }: { days: number | null }) {
  const [typed, setTyped] = useState(days === null ? "" : String(days))
  const refresh = useRefresh()
  return (
    <Form
      submit={async () => {
        await put(`${ADMIN}/retention`, { default_days: typed === "" ? null : Number(typed) })
        await refresh("retention", "settings")
        toast("Saved")
      }}
    >
      {({ busy, errorOf }) => (
        <>
          <TextField
            label="Days for which events are kept"
            type="number"
            min={1}
            value={typed}
            onValue={setTyped}
            error={errorOf("/default_days") ?? errorOf("/changes/default_retention_days")}
            note="Of sites that say nothing else. Empty: for ever. What is older goes every night."
          />
          <div class="row">
            <Button type="submit" busy={busy} disabled={typed === (days === null ? "" : String(days))}>
              Save
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}

/** First what would go, then exactly that. */
function Removal() {
  const [days, setDays] = useState("")
  const [counted, setCounted] = useState<{ days: string; preview: Preview }>()
  const refresh = useRefresh()
  const [, navigate] = useLocation()
  const body = days === "" ? {} : { retention_days: Number(days) }
  const isCounted = counted?.days === days
  const events = counted?.preview.by.reduce((sum, row) => sum + row.events, 0) ?? 0
  return (
    <Part title="Remove now what is over its time">
      <Form submit={async () => setCounted({ days, preview: await post<Preview>(`${ADMIN}/retention/preview`, body) })}>
        {({ busy, errorOf }) => (
          <>
            <TextField
              label="Older than so many days"
              type="number"
              min={1}
              value={days}
              onValue={setDays}
              error={errorOf("/retention_days")}
              note="Empty: what is set for each site."
            />
            <div class="row">
              <Button type="submit" busy={busy}>
                Preview
              </Button>
            </div>
          </>
        )}
      </Form>
      {isCounted && counted && (
        <div class="stack">
          <PreviewTable preview={counted.preview} />
          {events > 0 && (
            <div class="row">
              <AskedAct
                label={`Delete ${exact(events)} events`}
                title="Delete old events"
                act={`Delete ${exact(events)} events`}
                name="delete"
                onConfirm={async () => {
                  const { id } = await post<Job>(`${ADMIN}/retention/run`, { ...body, at: counted.preview.at })
                  await refresh("jobs", "storage")
                  navigate(`/admin/jobs/${id}`)
                }}
              >
                <p>Exactly what the preview tells goes, from all reports. It cannot be taken back.</p>
              </AskedAct>
            </div>
          )}
        </div>
      )}
    </Part>
  )
}
