// The browser toolset of the Anthropic SDK, with Pagehand as its browser: every member call goes to a child process,
// `pagehand exec --lines`, as one line of JSON, and its result comes back as another.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import {
  BetaAbstractBrowserToolset20260801,
  ToolError,
  ToolsetUsageError,
  type BetaBrowserMemberResult,
  type BetaBrowserState,
  type BetaBrowserToolsetOptions,
  type BetaToolsetCallContext,
} from '@anthropic-ai/sdk/helpers/beta/toolsets';

/** What `exec` answers a line with: the message with the result, or why it can't use the line. */
type Answer = { content: [{ content: Block[]; is_error?: boolean }] } | { error: { message: string } };
type Block =
  | { type: 'text'; text: string }
  | { type: 'image'; source: { media_type: 'image/png' | 'image/jpeg'; data: string } }
  | ({ type: 'browser_state' } & BetaBrowserState);

/** The SDK's options, and the flags of `pagehand exec` that say what the calls may do. */
export type PagehandOptions = Omit<BetaBrowserToolsetOptions, 'browserState'> & { flags?: string[] };

export class PagehandBrowser extends BetaAbstractBrowserToolset20260801 {
  readonly #process;
  readonly #ended;
  readonly #answers;
  /** The browser after the latest call, if its result told and until the SDK has asked. */
  #state: BetaBrowserState | undefined;

  constructor({ flags = [], ...options }: PagehandOptions = {}) {
    super({ ...options, browserState: () => this.#report() });
    const configs = JSON.stringify(this.configs ?? {});
    this.#process = spawn('pagehand', ['exec', '--lines', '--configs', configs, ...flags], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#process.stdin.on('error', () => {}); // a child that has ended gives no answer, which says it
    this.#ended = once(this.#process, 'close');
    this.#answers = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  protected override async execute(ctx: BetaToolsetCallContext, name: string, input: object): Promise<BetaBrowserMemberResult> {
    const { text, image } = await this.#call(name, input, ctx.toolUse?.id);
    switch (name) {
      case 'navigate': {
        // The SDK words this result itself. What else there is to tell (an error status, a download) goes where it puts a title.
        const [, url = String((input as { url: unknown }).url), title] = /^(?:Navigated to (\S+))?\s*(.*)$/s.exec(text)!;
        return title ? { url, title } : { url };
      }
      case 'screenshot':
      case 'zoom':
        return { data: image!.data, mediaType: image!.media_type };
      case 'new_tab':
      case 'switch_tab':
        return this.#state!.tabs.find((tab) => tab.active)!;
      case 'list_tabs':
        return this.#state!.tabs;
      default:
        return text;
    }
  }

  /** Ends Pagehand, and with it the browser. */
  override async close(): Promise<void> {
    await super.close();
    this.#process.stdin.end();
    await this.#ended;
  }

  /** The SDK asks for the tabs after every call, also when a failed or uneventful one did not tell. What changed is told once. */
  async #report(): Promise<BetaBrowserState> {
    if (!this.#state) await this.#call('list_tabs', {});
    const state = this.#state!;
    this.#state = undefined;
    return state;
  }

  /** Has Pagehand run a call. One that fails is thrown with the text for the model; what is no result ends the run. */
  async #call(name: string, input: object, id: string = randomUUID()) {
    this.#state = undefined;
    this.#process.stdin.write(JSON.stringify({ type: 'tool_use', id, toolset_name: 'browser', name, input }) + '\n');
    const line = await this.#answers.next();
    if (line.done) throw new ToolsetUsageError('pagehand exec has ended.');
    const answer: Answer = JSON.parse(line.value);
    if ('error' in answer) throw new ToolsetUsageError(answer.error.message);
    const [result] = answer.content;
    this.#state = result.content.find((block) => block.type === 'browser_state');
    const text = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    if (result.is_error) throw new ToolError(text);
    return { text, image: result.content.find((block) => block.type === 'image')?.source };
  }
}
