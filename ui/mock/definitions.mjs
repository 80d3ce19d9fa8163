// The workflows of the mock.
export const DEFINITIONS = [
  {
    workflow: 'order', version: 3, description: 'Sells one basket: reserve, charge, ship.', on_error: 'compensate',
    input_schema: { type: 'object', required: ['order', 'amount'], properties: { order: { type: 'string', title: 'Order number', pattern: '^[A-Z]{2}-[0-9]+$' }, amount: { type: 'number', minimum: 0, title: 'Amount' }, currency: { type: 'string', enum: ['EUR', 'USD', 'GBP'], default: 'EUR' }, express: { type: 'boolean', title: 'Express delivery' }, note: { type: 'string' } } },
    steps: [
      { step: 'check_basket' },
      { step: 'reserve', compensate: 'release', queue: 'stock' },
      { step: 'charge', compensate: 'refund', queue: 'payments', max_attempts: 5 },
      { savepoint: 'paid' },
      { condition: 'is_big', when: 'workflow.input.amount > 1000', then: [{ decision: 'approve', roles: ['finance'], deadline: '2d' }], else: [] },
      { parallel: 'fulfil', branches: { parcel: [{ step: 'pack', compensate: 'unpack' }, { step: 'ship', compensate: 'recall' }], papers: [{ step: 'print_invoice' }, { step: 'send_mail' }] } },
      { step: 'close_order' },
    ],
  },
  {
    workflow: 'expenses', version: 2, description: 'Pays back what people have spent.', on_error: 'dead_letter',
    steps: [{ step: 'read_receipts' }, { decision: 'manager', roles: ['manager'], deadline: '3d', description: 'Is this expense fine?' }, { condition: 'large', when: 'input.amount > 500', then: [{ decision: 'finance', roles: ['finance'], deadline: '5d' }], else: [] }, { step: 'pay_out', compensate: 'claim_back', queue: 'payments' }, { step: 'book' }],
  },
  {
    workflow: 'onboarding', version: 7, description: 'A new colleague gets accounts, devices and a desk.',
    steps: [{ step: 'create_account', compensate: 'delete_account' }, { parallel: 'prepare', branches: { it: [{ step: 'order_laptop', compensate: 'cancel_laptop' }, { signal: 'laptop_arrived' }], desk: [{ step: 'book_desk', compensate: 'free_desk' }], payroll: [{ step: 'register_payroll', compensate: 'sign_off_payroll' }] } }, { delay: 'until_first_day', for: '14d' }, { step: 'welcome' }],
  },
  {
    workflow: 'nightly-report', version: 12, description: 'Gathers the figures of the day.',
    steps: [{ parallel: 'gather', branches: { sales: [{ step: 'read_sales' }], stock: [{ step: 'read_stock' }], web: [{ step: 'read_web' }] } }, { step: 'render' }, { step: 'publish', queue: 'mail' }],
  },
  {
    workflow: 'shipment', version: 1, description: 'Moves a parcel abroad.',
    steps: [{ step: 'label', compensate: 'void_label' }, { step: 'ship_abroad', compensate: 'recall', queue: 'carriers' }, { signal: 'customs_cleared' }, { step: 'notify' }],
  },
];
