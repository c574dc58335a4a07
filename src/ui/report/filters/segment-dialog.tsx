import { useState } from "preact/hooks"
import { useSiteAddress } from "../address.ts"
import { post } from "../api.ts"
import { canOnSite, useMe } from "../me.ts"
import { Button } from "../parts/button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { Choice, TextField } from "../parts/fields.tsx"
import { Form } from "../parts/form.tsx"
import { toast } from "../toasts.ts"
import { useFilterTexts } from "./code-names.ts"
import { type SegmentShown, segmentsPath, useRefreshSegments } from "./segments.ts"

/** Saves the filters of the page under a name, and shows the page by it. */
export default function SegmentDialog({ onClose }: { onClose(): void }) {
  const { siteId, address, go } = useSiteAddress()
  const me = useMe()
  const refresh = useRefreshSegments(siteId)
  const texts = useFilterTexts(address.filters)
  const [name, setName] = useState("")
  const [scope, setScope] = useState<SegmentShown["scope"]>("personal")
  return (
    <Dialog title="Save as segment" onClose={onClose} small>
      <Form
        submit={async () => {
          const { id } = await post<SegmentShown>(segmentsPath(siteId), { name: name.trim(), scope, filters: address.filters })
          await refresh()
          go({ filters: [], segment: id })
          toast("Segment saved")
          onClose()
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <ul class="small quiet">
              {texts.map((text, index) => (
                <li key={index}>{text}</li>
              ))}
            </ul>
            <TextField label="Name" value={name} onValue={setName} error={errorOf("/name")} maxLength={100} autocomplete="off" autofocus />
            {canOnSite(me, siteId, "segments:write") && (
              <fieldset>
                <legend>Who sees it</legend>
                <Choice name="scope" label="You alone" checked={scope === "personal"} onChange={() => setScope("personal")} />
                <Choice name="scope" label="Everybody who sees the site" checked={scope === "site"} onChange={() => setScope("site")} />
              </fieldset>
            )}
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy} disabled={name.trim() === ""}>
                Save
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
