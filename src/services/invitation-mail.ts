import type { Invitation } from "../domain/invitation.ts"
import { ORGANIZATION } from "../domain/limits.ts"
import type { Organization } from "../domain/organization.ts"
import type { Letter } from "./mail-port.ts"

/** What an invitation says to whoever is invited. */
export const invitationMail = ({ name }: Pick<Organization, "name">, { email, role }: Invitation, link: string): Letter => ({
  to: email,
  subject: `Join ${name}`,
  text: [
    `You are invited to see the web statistics of ${name}, as ${role === "owner" || role === "admin" || role === "editor" ? "an" : "a"} ${role}.`,
    "",
    `Open this link within ${ORGANIZATION.invitationDays} days to accept:`,
    link,
    "",
    "If you did not expect this, leave it: nothing happens.",
  ].join("\n"),
})
