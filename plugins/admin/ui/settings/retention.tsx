import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { Button, type Column, DataTable, Dialog, exact, Form, Page, post, put, QueryResult, TextField, toast, visible } from "#plugin/ui"
import type { JobResponse, PreviewResponse, RetentionResponse } from "../../operation-responses.ts"
import { deletedText, PreviewTable } from "../fields.tsx"
import { ConfirmedAction, Part } from "../parts.tsx"
import { ADMIN, useAdmin, useRefresh } from "../queries.ts"

export type SiteRetention = RetentionResponse["sites"][number]

/** Page for the retention of events: the default, each site's own value, and applying them now. */
export default function RetentionPage() {
  const retention = useAdmin<RetentionResponse>("retention")
  const [changing, setChanging] = useState<SiteRetention>()
  return (
    <Page title="Retention">
      <Part title="Default">
        <QueryResult of={retention} rows={2}>
          {({ default_days }) => <DefaultDays key={String(default_days)} days={default_days} />}
        </QueryResult>
      </Part>
      {!retention.isLoading && (
        <>
          <Part title="By site">
            <QueryResult of={retention} rows={4}>
              {({ sites }) => (
                <DataTable
                  stacks
                  caption="Retention by site"
                  columns={columnsOf(setChanging)}
                  rows={sites}
                  keyOf={({ site_id }) => site_id}
                />
              )}
            </QueryResult>
          </Part>
          <Removal />
        </>
      )}
      {changing && <RetentionDialog site={changing} onClose={() => setChanging(undefined)} />}
    </Page>
  )
}

const daysText = (days: number | null): string => (days === null ? "forever" : `${exact(days)} days`)

const columnsOf = (change: (site: SiteRetention) => void): Column<SiteRetention>[] => [
  { id: "name", label: "Site", cell: ({ name, site_id }) => <span class="whole">{`${visible(name)} (${site_id})`}</span> },
  { id: "days", label: "Retention", cell: ({ retention_days }) => <span class="whole">{daysText(retention_days)}</span> },
  { id: "source", label: "Set by", cell: ({ source }) => <span class="whole">{source === "site" ? "site" : "default"}</span> },
  {
    id: "actions",
    label: "Actions",
    cell: (site) => (
      <Button aria-label={`Edit retention of ${site.name}`} onClick={() => change(site)}>
        Edit
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
        toast("Default retention saved")
      }}
    >
      {({ busy, errorOf }) => (
        <>
          <TextField
            label="Default retention (days)"
            type="number"
            min={1}
            value={typed}
            onValue={setTyped}
            error={errorOf("/default_days") ?? errorOf("/changes/default_retention_days")}
            note="Default for sites without their own setting. Leave empty to keep events forever. Applied nightly."
          />
          <div class="row">
            <Button type="submit" busy={busy} disabled={typed === (days === null ? "" : String(days))}>
              Save changes
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}

/** Form that previews which events a retention would delete, and then deletes exactly those. */
function Removal() {
  const [days, setDays] = useState("")
  const [counted, setCounted] = useState<{ days: string; preview: PreviewResponse }>()
  const refresh = useRefresh()
  const [, navigate] = useLocation()
  const body = days === "" ? {} : { retention_days: Number(days) }
  const isCounted = counted?.days === days
  const deleted = counted ? deletedText(counted.preview) : ""
  return (
    <Part title="Apply retention now">
      <Form submit={async () => setCounted({ days, preview: await post<PreviewResponse>(`${ADMIN}/retention/preview`, body) })}>
        {({ busy, errorOf }) => (
          <>
            <TextField
              label="Older than (days)"
              type="number"
              min={1}
              value={days}
              onValue={setDays}
              error={errorOf("/retention_days")}
              note="Leave empty to use each site's retention."
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
          {deleted !== "" && (
            <div class="row">
              <ConfirmedAction
                label={`Delete ${deleted}`}
                title="Delete old data"
                act={`Delete ${deleted}`}
                name="delete"
                onConfirm={async () => {
                  const { id } = await post<JobResponse>(`${ADMIN}/retention/run`, { ...body, at: counted.preview.at })
                  await refresh("jobs", "storage")
                  navigate(`/admin/jobs/${id}`)
                }}
              >
                <p>Deletes the data in the preview from all reports. This can't be undone.</p>
              </ConfirmedAction>
            </div>
          )}
        </div>
      )}
    </Part>
  )
}

/** Dialog for the retention of one site, which takes precedence over the default. */
export function RetentionDialog({ site, onClose }: { site: SiteRetention; onClose(): void }) {
  const [days, setDays] = useState(site.source === "site" ? String(site.retention_days) : "")
  const refresh = useRefresh()
  return (
    <Dialog title={`Retention of ${site.name}`} onClose={onClose} small>
      <Form
        submit={async () => {
          await put(`${ADMIN}/retention`, { sites: [{ site_id: site.site_id, retention_days: days === "" ? null : Number(days) }] })
          await refresh("retention", "sites")
          onClose()
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <TextField
              label="Retention (days)"
              type="number"
              min={1}
              value={days}
              onValue={setDays}
              error={errorOf("/sites/0/retention_days") ?? errorOf("/retention_days")}
              note="Leave empty to use the default. Older events are deleted tonight."
              autofocus
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Save changes
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
