// Pagehand as a contender of the side-by-side benchmark, over `pagehand exec --lines`: one line of JSON in, one out.
// PAGEHAND names the binary. Readings are uncapped unless PAGEHAND_MAX_CHARS says otherwise.
import { spawn, execFileSync } from 'node:child_process';
import { chromiumPath, VIEWPORT } from '../lib/cdp.mjs';
import { refByLine } from '../lib/peers.mjs';

const BINARY = process.env.PAGEHAND ?? 'pagehand';

export class Pagehand {
  #next = 1;
  #waiting = [];
  #chunks = [];
  constructor(readFilter = 'all', maxChars = 0) {
    this.readFilter = readFilter;
    this.maxChars = maxChars;
  }

  async start() {
    this.child = spawn(BINARY, ['exec', '--lines', '--allow-private', '--browser', chromiumPath(), '--max-chars', String(this.maxChars),
      '--viewport', `${VIEWPORT.width}x${VIEWPORT.height}`], { stdio: ['pipe', 'pipe', 'pipe'] });
    let stderr = '';
    this.child.stderr.on('data', (d) => { stderr = (stderr + d).slice(-4000); });
    this.child.stdin.on('error', () => {});
    this.child.stdout.on('data', (d) => this.#data(d));
    this.child.on('exit', () => { for (const w of this.#waiting.splice(0)) w.reject(new Error(`pagehand ended: ${stderr}`)); });
  }

  #data(buf) {
    let from = 0;
    for (let at = buf.indexOf(10); at !== -1; at = buf.indexOf(10, from)) {
      this.#chunks.push(buf.subarray(from, at));
      const line = Buffer.concat(this.#chunks);
      this.#chunks = [];
      from = at + 1;
      this.#waiting.shift()?.resolve(JSON.parse(line));
    }
    if (from < buf.length) this.#chunks.push(buf.subarray(from));
  }

  /** Runs the calls of one turn. Returns the last one's text, and the image it sent. */
  turn(...calls) {
    const blocks = calls.map(([name, input]) => ({ type: 'tool_use', id: `toolu_${this.#next++}`, name, toolset_name: 'browser', input }));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ reject, resolve: (message) => {
        if (message.error) return reject(new Error(message.error.message));
        let text = '', image;
        for (const r of message.content) {
          const part = r.content.filter((b) => b.type === 'text').map((b) => b.text).join('\n');
          if (r.is_error) return reject(new Error(part));
          text = part;
          image = r.content.find((b) => b.type === 'image')?.source.data;
        }
        resolve({ text, imageBytes: image && Math.floor(image.length * 3 / 4), image: image && Buffer.from(image.slice(0, 64), 'base64') });
      } });
      this.child.stdin.write(JSON.stringify(blocks) + '\n');
    });
  }

  pids() { return [this.child.pid]; }
  async close() {
    const gone = new Promise((r) => this.child.once('exit', r));
    this.child.stdin.end();
    await gone;
  }

  #ref(ref) { return { target: { type: 'ref', ref } }; }
  open(url) { return this.turn(['navigate', { url }]); }
  readAll() { return this.turn(['read_page', this.readFilter ? { filter: this.readFilter } : {}]); }
  readInteractive() { return this.turn(['read_page', { filter: 'interactive' }]); }
  ref(snap, role, name) { return refByLine(snap.text, (r, n) => new RegExp(`${r} "${n}" \\[(ref_\\d+)\\]`), role, name); }
  click(ref) { return this.turn(['left_click', this.#ref(ref)]); }
  type(_ref, text) { return this.turn(['type', { text }]); } // into what the click before has focused
  fill(ref, text) { return this.turn(['form_input', { ...this.#ref(ref), value: text }]); }
  press(key) { return this.turn(['key', { text: key }]); }
  fillForm(fields) {
    return this.turn(...fields.map((f) => ['form_input', { ...this.#ref(f.ref), value: f.kind === 'check' ? f.value === 'true' : f.value }]));
  }
  screenshot() { return this.turn(['screenshot', {}]); }
}

const version = () => execFileSync(BINARY, ['version']).toString().split('\n')[0].split(' ')[1] ?? '-';
export default {
  name: 'pagehand', label: 'pagehand exec --lines, uncapped readings', version, create: () => new Pagehand(),
  note: 'read_page with filter all and no cap; form filled in one turn of five calls',
};
export const viewport = {
  name: 'pagehand-default', label: 'pagehand exec --lines, default reading (what is visible, 50,000 characters)', version, every: 3,
  create: () => new Pagehand('', 50000), note: 'read_page without a filter: what is in the viewport',
};
