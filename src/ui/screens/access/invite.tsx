import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { Link, useParams } from "wouter"
import { Problem, post, send } from "../../api.ts"
import { boot } from "../../boot.ts"
import { timeText } from "../../format.ts"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { TextField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { NewPassword } from "../../parts/new-password.tsx"
import { ErrorState, Skeleton } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { signOut } from "../../sign-in/sign-out.ts"
import { AccessPage } from "./access-page.tsx"

interface Offer {
  organization: { id: number; name: string }
  role: string
  email: string
  sites: { id: number; name: string }[]
  expires_at: string
  has_account: boolean
}

/** What an invitation offers, and joining: for whoever is signed in, has an account, or makes one now. */
export default function Invite() {
  const { token = "" } = useParams<{ token: string }>()
  const path = `/api/private/invitations/${encodeURIComponent(token)}`
  const { data, error, refetch } = useQuery({
    queryKey: ["invitation", token],
    queryFn: ({ signal }) => send<Offer>(path, { signal, isSignIn: true }),
  })
  if (error instanceof Problem && error.code === "invitation_not_found")
    return (
      <AccessPage title="The invitation is no longer good">
        <p role="alert">It is unknown, was used or withdrawn, or is older than seven days. Ask whoever invited you for a new one.</p>
        <p>
          <ButtonLink href="/">Go on</ButtonLink>
        </p>
      </AccessPage>
    )
  return (
    <AccessPage title={data ? `Join ${visible(data.organization.name)}` : "Invitation"}>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <Offered offer={data} path={path} token={token} />
      ) : (
        <Skeleton rows={3} />
      )}
    </AccessPage>
  )
}

function Offered({ offer, path, token }: { offer: Offer; path: string; token: string }) {
  const { organization, role, email, sites, expires_at, has_account } = offer
  const accept = async (body: object) => {
    await post(`${path}/accept`, body, { isSignIn: true })
    location.assign("/")
  }
  return (
    <>
      <dl class="facts">
        <dt>Organization</dt>
        <dd>{visible(organization.name)}</dd>
        <dt>Your role</dt>
        <dd>{role}</dd>
        {sites.length > 0 && (
          <>
            <dt>Sites</dt>
            <dd>{sites.map(({ name }) => visible(name)).join(", ")}</dd>
          </>
        )}
        <dt>For</dt>
        <dd>{email}</dd>
        <dt>Good until</dt>
        <dd>{timeText(expires_at)}</dd>
      </dl>
      {boot.me ? (
        <AcceptHere onAccept={accept} email={email} />
      ) : has_account ? (
        <SignInFirst token={token} />
      ) : (
        <SignUp onAccept={accept} email={email} />
      )}
    </>
  )
}

interface AcceptProps {
  onAccept(body: object): Promise<void>
  email: string
}

function AcceptHere({ onAccept, email }: AcceptProps) {
  const own = boot.me?.user.email
  if (own?.toLowerCase() !== email.toLowerCase())
    return (
      <>
        <p role="note">
          You are signed in as {own}, and the invitation is for {email}.
        </p>
        <div class="row">
          <Button onClick={() => void signOut(location.pathname)}>Sign out and come back</Button>
        </div>
      </>
    )
  return (
    <Form submit={() => onAccept({})}>
      {({ busy }) => (
        <div class="row">
          <Button kind="primary" type="submit" busy={busy}>
            Join
          </Button>
        </div>
      )}
    </Form>
  )
}

const SignInFirst = ({ token }: { token: string }) => (
  <>
    <p>This address has an account here: sign in with it to join.</p>
    <p>
      <Link href={`/signin?next=${encodeURIComponent(`/invite/${token}`)}`} class="button" data-kind="primary">
        Sign in
      </Link>
    </p>
  </>
)

function SignUp({ onAccept, email }: AcceptProps) {
  const [name, setName] = useState("")
  const [password, setPassword] = useState("")
  return (
    <Form submit={() => onAccept({ name, password })} label="Make an account">
      {({ busy, errorOf }) => (
        <>
          <TextField label="E-mail" type="email" autocomplete="username" value={email} onValue={() => {}} readOnly />
          <TextField label="Your name" autocomplete="name" value={name} onValue={setName} error={errorOf("/name")} autofocus />
          <NewPassword value={password} onValue={setPassword} email={email} error={errorOf("/password")} />
          <div class="row">
            <Button kind="primary" type="submit" busy={busy}>
              Join
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
