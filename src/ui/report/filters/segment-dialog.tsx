import { useState } from "preact/hooks"
import type { SegmentResponse } from "../../../domain/segment.ts"
import { post } from "../../api/api.ts"
import { canOnSite, useMe } from "../../api/session.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { Button } from "../../parts/button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { Checkbox, TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { toast } from "../../parts/toasts.tsx"
import { segmentsPath, useRefreshSegments } from "./filters.ts"
import { segmentFilters, useSegmentTexts } from "./segment-filters.ts"

/** Dialog that saves the page's filters as a segment and applies it. */
export default function SegmentDialog({ onClose }: { onClose(): void }) {
  const { siteId, address, go } = useSiteAddress()
  const me = useMe()
  const refresh = useRefreshSegments(siteId)
  const filters = segmentFilters(address)
  const texts = useSegmentTexts(filters)
  const [name, setName] = useState("")
  const [scope, setScope] = useState<SegmentResponse["scope"]>("personal")
  return (
    <Dialog title="Save as segment" onClose={onClose} small>
      <Form
        submit={async () => {
          const { id } = await post<SegmentResponse>(segmentsPath(siteId), { name: name.trim(), scope, filters })
          await refresh()
          go({ filters: [], any: [], segment: id })
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
                <legend>Visible to</legend>
                <Checkbox name="scope" label="Only me" checked={scope === "personal"} onChange={() => setScope("personal")} />
                <Checkbox
                  name="scope"
                  label="Everyone with access to this site"
                  checked={scope === "site"}
                  onChange={() => setScope("site")}
                />
              </fieldset>
            )}
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy} disabled={name.trim() === ""}>
                Save segment
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
