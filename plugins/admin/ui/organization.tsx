import { useState } from "preact/hooks"
import { Link, useLocation, useParams } from "wouter"
import { Button, bytesText, ErrorState, exact, Form, Page, patch, remove, Skeleton, TextField, toast, visible } from "#plugin/ui"
import { AskedAct } from "./act.tsx"
import type { Organization } from "./answers.ts"
import { useAdmin, useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"
import { Members } from "./members.tsx"
import { Facts, Moment, Part } from "./parts.tsx"

/** One organization: who belongs to it, and its end. */
export default function OrganizationPage() {
  const { organization: id } = useParams<{ organization: string }>()
  const { data, error, refetch } = useAdmin<Organization>(`organizations/${id}`)
  return (
    <Page title={data ? visible(data.name) : "Organization"}>
      <p>
        <Link href="/admin/organizations">All organizations</Link>
      </p>
      {data ? (
        <Shown key={data.version} organization={data} />
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton />
      )}
    </Page>
  )
}

function Shown({ organization }: { organization: Organization }) {
  const { id, name, owners, members, sites, keys, events_30d, bytes, created_at } = organization
  const refresh = useRefresh()
  const [, navigate] = useLocation()
  return (
    <>
      <Facts
        of={[
          ["Members", `${exact(members)}, ${owners === 1 ? "one owner" : `${exact(owners)} owners`}`],
          [
            "Sites",
            <Link key="sites" href={`/admin/sites?organization=${id}`}>
              {exact(sites)}
            </Link>,
          ],
          ["API keys", exact(keys)],
          ["Events, 30 days", exact(events_30d)],
          ["Size", bytesText(bytes)],
          ["Since", <Moment key="since" at={created_at} />],
        ]}
      />
      <Part title="Members">
        <Members organization={organization} />
      </Part>
      <Part title="Name">
        <Rename organization={organization} />
      </Part>
      <Part title="Delete">
        <p class="quiet">Its sites, with all their data, its keys and its memberships go. Users stay.</p>
        <div class="row">
          <AskedAct
            label="Delete organization"
            title={`Delete ${name}`}
            act={sites === 0 ? "Delete organization" : `Delete it with ${sites === 1 ? "its site" : `${exact(sites)} sites`}`}
            name={name}
            onConfirm={async () => {
              await remove(`${ADMIN}/organizations/${id}`, { body: { confirm: name } })
              toast("The organization is gone; its sites go within the next minutes")
              navigate("/admin/organizations")
              await refresh("organizations", "sites", "users")
            }}
          >
            <p>It cannot be taken back.</p>
          </AskedAct>
        </div>
      </Part>
    </>
  )
}

function Rename({ organization }: { organization: Organization }) {
  const [name, setName] = useState(organization.name)
  const refresh = useRefresh()
  return (
    <Form
      submit={async () => {
        await patch(`${ADMIN}/organizations/${organization.id}`, { name: name.trim(), version: organization.version })
        await refresh("organizations")
        toast("Saved")
      }}
    >
      {({ busy, errorOf }) => (
        <>
          <TextField label="Name" value={name} onValue={setName} error={errorOf("/name")} />
          <div class="row">
            <Button type="submit" busy={busy} disabled={name === organization.name}>
              Save
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
