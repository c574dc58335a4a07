import { useState } from "preact/hooks"
import { Button, Confirm, MenuItem, Popover, post, remove, timeText, toast } from "#plugin/ui"
import { useAct } from "./act.tsx"
import type { Site } from "./answers.ts"
import { useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"
import { PurgeSite } from "./purge-site.tsx"
import { TransferSite } from "./transfer-site.tsx"

/** What can be done with a site; one that was deleted can come back. */
export function SiteActs({ site }: { site: Site }) {
  const [open, setOpen] = useState<"transfer" | "purge" | "delete">()
  const refresh = useRefresh()
  const [busy, act] = useAct()
  const close = () => setOpen(undefined)
  const path = `${ADMIN}/sites/${site.id}`
  const restore = () => post(`${path}/restore`, undefined).then(() => refresh("sites", "organizations"))
  if (site.deleted_at !== undefined)
    return (
      <Button busy={busy} title={`Deleted ${timeText(site.deleted_at)}`} onClick={() => void act(restore, `${site.name} is back`)}>
        Restore
      </Button>
    )
  return (
    <>
      <Popover button="Change" label={`Change ${site.name}`}>
        {(shut) => {
          const choose = (what: typeof open) => () => {
            shut()
            setOpen(what)
          }
          return (
            <>
              <MenuItem onSelect={choose("transfer")}>Move to another organization</MenuItem>
              <MenuItem onSelect={choose("purge")}>Remove old visits</MenuItem>
              <MenuItem kind="danger" onSelect={choose("delete")}>
                Delete
              </MenuItem>
            </>
          )
        }}
      </Popover>
      {open === "transfer" && <TransferSite site={site} onClose={close} />}
      {open === "purge" && <PurgeSite site={site} onClose={close} />}
      {open === "delete" && (
        <Confirm
          title={`Delete ${site.name}`}
          act="Delete site"
          name={site.name}
          onClose={close}
          onConfirm={async () => {
            await remove(path)
            await refresh("sites", "organizations")
            toast(`${site.name} is deleted`)
          }}
        >
          <p>Its events are refused from now on. For 30 days it can come back; then all its data goes.</p>
        </Confirm>
      )}
    </>
  )
}
