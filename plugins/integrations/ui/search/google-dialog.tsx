import { useState } from "preact/hooks"
import { Button, Dialog, Form, Problem, post, TextArea, toast } from "#plugin/ui"
import type { AuthorizationResponse, IntegrationList, IntegrationResponse } from "../../responses.ts"
import { integrationsAddress, integrationsPath, useRefresh } from "../answers.ts"
import { FailedSteps } from "../frame.tsx"

interface GoogleDialogProps {
  siteId: number
  kind: IntegrationList["available"][number]
  onClose(): void
}

/** What the account of a service account must be allowed to read. */
const GRANTS: Readonly<Record<string, string>> = {
  "search-console":
    "In the Google Cloud console, enable the Google Search Console API, create a service account with a JSON key, and add its email address as a user of the property in Search Console.",
  "google-analytics":
    "In the Google Cloud console, enable the Google Analytics Data API and Admin API, create a service account with a JSON key, and add its email address as a viewer of the property in Analytics.",
}

/** Dialog that connects a Google account: by granting access at Google, or by the key of a service account. */
export default function GoogleDialog({ siteId, kind, onClose }: GoogleDialogProps) {
  const [key, setKey] = useState("")
  const refresh = useRefresh(siteId)
  const path = `${integrationsPath(siteId)}/${kind.kind}/connect`
  const hasOauth = kind.connect_by.includes("oauth")
  const submit = async () => {
    await post<IntegrationResponse>(path, { service_account: keyIn(key) })
    await refresh()
    toast(`${kind.name} connected`)
    onClose()
  }
  return (
    <Dialog title={`Connect ${kind.name}`} onClose={onClose}>
      <div class="stack">
        {hasOauth ? (
          <Form
            label="Google account"
            submit={async () => {
              const { authorize_url } = await post<AuthorizationResponse>(path, { return_to: integrationsAddress(siteId) })
              location.assign(authorize_url)
            }}
          >
            {({ busy }) => (
              <>
                <p>Sign in to Google and grant read access. All sites of the organization can use the connection.</p>
                <div>
                  <Button kind="primary" type="submit" busy={busy}>
                    Continue with Google
                  </Button>
                </div>
              </>
            )}
          </Form>
        ) : (
          <p class="small quiet">
            To offer sign-in with Google, an operator must set FOOTFALL_GOOGLE_CLIENT_ID and FOOTFALL_GOOGLE_CLIENT_SECRET.
          </p>
        )}
        <details open={!hasOauth}>
          <summary>Service account</summary>
          <div class="details-body">
            <Form submit={submit} label="Service account">
              {({ busy, errorOf, problem }) => (
                <>
                  <FailedSteps problem={problem} />
                  <TextArea
                    label="JSON key"
                    value={key}
                    onValue={setKey}
                    rows={6}
                    error={errorOf("/service_account")}
                    placeholder={'{ "type": "service_account", … }'}
                    note={`${GRANTS[kind.kind] ?? ""} The access doesn't expire. The key is stored encrypted.`}
                  />
                  <div>
                    <Button kind={hasOauth ? "plain" : "primary"} type="submit" busy={busy}>
                      Connect service account
                    </Button>
                  </div>
                </>
              )}
            </Form>
          </div>
        </details>
      </div>
    </Dialog>
  )
}

/** Parses the key. Throws in the form of a fault at its field, without repeating the text. */
function keyIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const detail = "is not JSON. Paste the whole file that Google gave you"
    throw new Problem(422, "validation_failed", "The key is not JSON.", {
      errors: [{ pointer: "/service_account", code: "invalid_format", detail }],
    })
  }
}
