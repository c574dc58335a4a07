import { useState } from "preact/hooks"
import { Button, Dialog, Form, patch, post, TextField, toast, useSite, visible } from "#plugin/ui"
import type { IntegrationResponse } from "../../responses.ts"
import { integrationsPath, useRefresh } from "../answers.ts"
import { FailedSteps } from "../frame.tsx"

interface BingDialogProps {
  siteId: number
  /** Connection whose key is replaced. Undefined connects a new one. */
  item?: IntegrationResponse
  onClose(): void
}

/** Dialog that connects Bing by the API key of its webmaster tools. */
export default function BingDialog({ siteId, item, onClose }: BingDialogProps) {
  const { data: site } = useSite(siteId)
  const [key, setKey] = useState("")
  const [url, setUrl] = useState(typeof item?.config.site_url === "string" ? item.config.site_url : "")
  const refresh = useRefresh(siteId)
  const submit = async () => {
    const body = { ...((key.trim() || !item) && { api_key: key.trim() }), ...(url.trim() && { config: { site_url: url.trim() } }) }
    if (item) await patch(`${integrationsPath(siteId)}/${item.id}`, { ...body, version: item.version })
    else await post(`${integrationsPath(siteId)}/bing-webmaster/connect`, body)
    await refresh()
    toast(item ? "Bing saved" : "Bing connected")
    onClose()
  }
  return (
    <Dialog title={item ? "Edit Bing" : "Connect Bing"} onClose={onClose}>
      <Form submit={submit} label="Bing">
        {({ busy, errorOf, problem }) => (
          <>
            <FailedSteps problem={problem} />
            <TextField
              label="API key"
              value={key}
              onValue={setKey}
              error={errorOf("/api_key")}
              note={
                item
                  ? `Stored: ${item.secret.hint ?? "set"}. Leave empty to keep it.`
                  : "In Bing Webmaster Tools, open Settings and API access, and copy the API key. It is stored encrypted."
              }
              autocomplete="off"
              code
              autofocus
            />
            <TextField
              label="Site URL in Bing (optional)"
              type="url"
              value={url}
              onValue={setUrl}
              error={errorOf("/config/site_url")}
              placeholder={site?.hosts[0] ? `https://${visible(site.hosts[0])}/` : ""}
              note="The URL under which Bing lists the site."
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                {item ? "Save changes" : "Connect Bing"}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
