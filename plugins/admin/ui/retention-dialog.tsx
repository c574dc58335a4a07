import { useState } from "preact/hooks"
import { Button, Dialog, Form, put, TextField } from "#plugin/ui"
import { useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"
import type { SiteRetention } from "./retention.tsx"

/** How long events of one site are kept; its own value wins over the default. */
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
              label="Days for which events are kept"
              type="number"
              min={1}
              value={days}
              onValue={setDays}
              error={errorOf("/sites/0/retention_days") ?? errorOf("/retention_days")}
              note="Empty: the default. What is older goes tonight."
              autofocus
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Save
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
