import { useState } from "preact/hooks"
import type { ProviderTest as ProviderCheck } from "#plugin"
import { Button, type Column, DataTable, Form, post, TextField, useMe, visible } from "#plugin/ui"
import type { MailTestResponse } from "../../operation-responses.ts"
import { Part } from "../parts.tsx"
import { ADMIN } from "../queries.ts"

/** Sends a test email and shows the dialogue with the mail server. */
export function MailTest() {
  const me = useMe()
  const [to, setTo] = useState(me?.user.email ?? "")
  const [result, setResult] = useState<MailTestResponse>()
  return (
    <Part title="Test the mail server">
      <Form submit={async () => setResult(await post<MailTestResponse>(`${ADMIN}/settings/smtp/test`, { to: to.trim() }))}>
        {({ busy, errorOf }) => (
          <>
            <TextField label="To" type="email" value={to} onValue={setTo} error={errorOf("/to")} />
            <div class="row">
              <Button type="submit" busy={busy}>
                Send test email
              </Button>
            </div>
          </>
        )}
      </Form>
      {result && (
        <div class="stack" role="status">
          <p>{result.ok ? "The mail server accepted the message." : "The message couldn't be sent. The last step shows why."}</p>
          <DataTable
            caption="Steps"
            columns={DIALOGUE}
            rows={result.steps.map((step, index) => ({ ...step, index }))}
            keyOf={({ index }) => index}
          />
        </div>
      )}
    </Part>
  )
}

const DIALOGUE: Column<MailTestResponse["steps"][number] & { index: number }>[] = [
  { id: "name", label: "Step", cell: ({ name }) => visible(name) },
  { id: "sent", label: "Sent", cell: ({ sent }) => <code>{visible(sent)}</code> },
  { id: "received", label: "Received", cell: ({ received }) => <code>{visible(received)}</code> },
  { id: "ms", label: "ms", number: true, cell: ({ ms }) => ms },
]

/** Checks whether an identity provider offers what sign-in needs. */
export function ProviderTest() {
  const [provider, setProvider] = useState("oidc")
  const [result, setResult] = useState<ProviderCheck>()
  return (
    <Part title="Test an identity provider">
      <Form submit={async () => setResult(await post<ProviderCheck>(`${ADMIN}/settings/oidc/test`, { provider: provider.trim() }))}>
        {({ busy, errorOf }) => (
          <>
            <TextField
              label="Provider"
              value={provider}
              onValue={setProvider}
              error={errorOf("/provider")}
              note="ID of the provider. The instance's own provider has the ID oidc."
              code
            />
            <div class="row">
              <Button type="submit" busy={busy}>
                Test provider
              </Button>
            </div>
          </>
        )}
      </Form>
      {result && (
        <div class="stack" role="status">
          <p>{result.ok ? "The provider is ready for sign-in." : "The provider isn't ready. The steps below show what is missing."}</p>
          <DataTable caption="Steps" columns={CHECKS} rows={result.steps} keyOf={({ name }) => name} />
          {result.claims.length > 0 && <DataTable caption="Claims" columns={CLAIMS} rows={result.claims} keyOf={({ name }) => name} />}
        </div>
      )}
    </Part>
  )
}

const CHECKS: Column<ProviderCheck["steps"][number]>[] = [
  { id: "name", label: "Step", cell: ({ name }) => visible(name) },
  { id: "ok", label: "Result", cell: ({ ok }) => (ok ? "ok" : <strong class="down">failed</strong>) },
  { id: "detail", label: "Detail", cell: ({ detail }) => visible(detail) },
]

const CLAIMS: Column<ProviderCheck["claims"][number]>[] = [
  { id: "name", label: "Claim", cell: ({ name }) => <code>{name}</code> },
  { id: "needed", label: "Required", cell: ({ needed }) => (needed ? "yes" : "no") },
  { id: "offered", label: "Offered", cell: ({ offered }) => (offered === null ? "unknown" : offered ? "yes" : "no") },
]
