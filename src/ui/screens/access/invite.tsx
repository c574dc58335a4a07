import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { Link, useParams } from "wouter"
import type { OfferResponse } from "../../../domain/invitation.ts"
import { Problem, post, send } from "../../api/api.ts"
import { boot, signOut } from "../../api/session.ts"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { NewPassword } from "../../parts/form/new-password.tsx"
import { ErrorState, Skeleton } from "../../parts/states.tsx"
import { timeText } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { AccessPage } from "./access-page.tsx"

/** Shows an invitation and lets the invited person accept it, signed in, with an existing account or with a new one. */
export default function Invite() {
  const { token = "" } = useParams<{ token: string }>()
  const path = `/api/private/invitations/${encodeURIComponent(token)}`
  const { data, error, refetch } = useQuery({
    queryKey: ["invitation", token],
    queryFn: ({ signal }) => send<OfferResponse>(path, { signal, isSignIn: true }),
  })
  if (error instanceof Problem && error.code === "invitation_not_found")
    return (
      <AccessPage title="This invitation is no longer valid">
        <p role="alert">It may have expired, been used or been withdrawn. Ask for a new one.</p>
        <p>
          <ButtonLink href="/">Continue</ButtonLink>
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

function Offered({ offer, path, token }: { offer: OfferResponse; path: string; token: string }) {
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
        <dt>Invited email</dt>
        <dd>{email}</dd>
        <dt>Expires</dt>
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
          You're signed in as {own}, but this invitation is for {email}. Sign out to accept it with the invited account.
        </p>
        <div class="row">
          <Button onClick={() => void signOut(location.pathname)}>Sign out</Button>
        </div>
      </>
    )
  return (
    <Form submit={() => onAccept({})}>
      {({ busy }) => (
        <div class="row">
          <Button kind="primary" type="submit" busy={busy}>
            Join organization
          </Button>
        </div>
      )}
    </Form>
  )
}

const SignInFirst = ({ token }: { token: string }) => (
  <>
    <p>An account with this email address already exists. Sign in to join.</p>
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
    <Form submit={() => onAccept({ name, password })} label="Create account">
      {({ busy, errorOf }) => (
        <>
          <TextField label="Email" type="email" autocomplete="username" value={email} onValue={() => {}} readOnly />
          <TextField label="Your name" autocomplete="name" value={name} onValue={setName} error={errorOf("/name")} autofocus />
          <NewPassword value={password} onValue={setPassword} email={email} error={errorOf("/password")} />
          <div class="row">
            <Button kind="primary" type="submit" busy={busy}>
              Join organization
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
