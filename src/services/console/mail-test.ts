import { Type as t } from "@sinclair/typebox"
import { AppError, refuseFaults } from "../../domain/error.ts"
import { inspect } from "../../domain/shape.ts"
import { EmailText, emailFaults } from "../../domain/user.ts"
import type { SmtpSettings } from "../mail.ts"
import { askMailServer, type SmtpDialogue } from "../smtp-dialogue.ts"

const MailTestInput = t.Object({ to: EmailText }, { additionalProperties: false, title: "MailTestInput" })

/** Sends a short mail to the address in the body and tells what was said on the way. */
export async function testMail(smtp: SmtpSettings | undefined, body: unknown): Promise<SmtpDialogue> {
  const { fields, faults } = inspect(MailTestInput, body)
  refuseFaults([...faults, ...emailFaults(fields.to, "/to")])
  if (!smtp) throw new AppError("mail_unavailable", "No mail server is set: smtp_host.")
  return askMailServer(smtp, fields.to)
}
