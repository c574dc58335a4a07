import { useState } from "preact/hooks"
import { Button, type Column, DataTable, Form, post, TextField, visible } from "#plugin/ui"
import { ADMIN } from "./list.ts"
import { Part } from "./parts.tsx"

interface Look {
  ok: boolean
  steps: { name: string; ok: boolean; detail: string; ms: number }[]
  claims: { name: string; needed: boolean; offered: boolean | null }[]
}

/** Asks an identity provider for what signing in takes. */
export function ProviderTest() {
  const [provider, setProvider] = useState("oidc")
  const [told, setTold] = useState<Look>()
  return (
    <Part title="Test an identity provider">
      <Form submit={async () => setTold(await post<Look>(`${ADMIN}/settings/oidc/test`, { provider: provider.trim() }))}>
        {({ busy, errorOf }) => (
          <>
            <TextField
              label="Provider"
              value={provider}
              onValue={setProvider}
              error={errorOf("/provider")}
              note="Its id; that of the instance is called oidc."
              code
            />
            <div class="row">
              <Button type="submit" busy={busy}>
                Test
              </Button>
            </div>
          </>
        )}
      </Form>
      {told && (
        <div class="stack" role="status">
          <p>{told.ok ? "People can sign in by it." : "Something is missing; the steps say what."}</p>
          <DataTable caption="Steps" columns={STEPS} rows={told.steps} keyOf={({ name }) => name} />
          {told.claims.length > 0 && <DataTable caption="Claims" columns={CLAIMS} rows={told.claims} keyOf={({ name }) => name} />}
        </div>
      )}
    </Part>
  )
}

const STEPS: Column<Look["steps"][number]>[] = [
  { id: "name", label: "Step", cell: ({ name }) => visible(name) },
  { id: "ok", label: "Outcome", cell: ({ ok }) => (ok ? "ok" : <strong class="down">failed</strong>) },
  { id: "detail", label: "Detail", cell: ({ detail }) => visible(detail) },
]

const CLAIMS: Column<Look["claims"][number]>[] = [
  { id: "name", label: "Claim", cell: ({ name }) => <code>{name}</code> },
  { id: "needed", label: "Needed", cell: ({ needed }) => (needed ? "yes" : "no") },
  { id: "offered", label: "Offered", cell: ({ offered }) => (offered === null ? "it does not say" : offered ? "yes" : "no") },
]
